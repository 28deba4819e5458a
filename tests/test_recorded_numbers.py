"""Numbers in the documentation's tables are those of the records that they name."""

import json
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
