"""Numbers in the documentation's tables are those of the records that they name."""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def row_of(step):
    """Return the row of a step of training, as docs/baselines.md has it."""
    times, shares = step["milliseconds"], step["share_of_product"]
    backward = times["forward_and_backward"] - times["forward"]
    cells = [f"`{step['board']}`", f"`{step['attention']}`"]
    cells += [f"{ms:.1f}" for ms in (times["data"], times["forward"], backward)]
    cells += [f"{ms:.1f}" for ms in (times["step_of_all_tokens"], times["step"])]
    cells += [f"{times['step'] / times['step_of_all_tokens']:.2f}", f"{step['gflops']['nominal']:.0f}"]
    cells += [f"{100 * shares[kind]:.0f} %" for kind in ("nominal", "real")]
    return f"| {' | '.join(cells)} |"


def test_steps_of_training():
    record = json.loads((DOCS / "results" / "training-speed.json").read_text())
    page = (DOCS / "baselines.md").read_text()
    wanted = [row_of(step) for step in record["steps"]]
    found = [line for line in page.splitlines() if line in wanted]
    assert found == wanted, "the table of docs/baselines.md should be:\n" + "\n".join(wanted)
    assert f"the {record['product_gflops']:.0f} GFLOP/s at which the same run multiplies" in page


def rounded(rate):
    """Return a rate with three digits, as docs/sraven.md has it."""
    if rate is None:
        return "–"
    return f"{float(f'{rate:.3g}'):,.0f}"


def test_certificates_and_observers():
    record = json.loads((DOCS / "results" / "certificates.json").read_text())
    rows = [
        f"| {each['M']}, {each['K']} | {rounded(each['certify'])} | {rounded(each['observe'])} |"
        for each in record["instances_per_second"]
    ]
    table = "\n".join(["| M, K | `count_answers` | `ideal_observer` |", "| --- | --- | --- |", *rows])
    assert table in (DOCS / "sraven.md").read_text(), f"the table of docs/sraven.md should be:\n{table}"


def test_first_pages_have_the_scores_of_the_results():
    """README.md and docs/index.md name R² of the three attentions, known combinations first."""
    page = (DOCS / "results" / "figure-2c.md").read_text()
    means = []
    for attention in ("softmax", "linear", "HYLA"):
        row = re.search(
            rf"^\| 32 \| 70.% \| {attention} \| 3/3 \| ([\d.]+).*? \| ([\d.]+)", page, re.MULTILINE
        )
        ood, test = map(float, row.groups())
        means.append((f"{test:.3f}", f"{ood:.3f}"))
    test, ood = ("{}, {} and {}".format(*three) for three in zip(*means, strict=True))
    for path in (DOCS.parent / "README.md", DOCS / "index.md"):
        text = " ".join(path.read_text().split())
        assert f"an R² of {test} on known combinations, and of {ood} on new ones" in text, path
