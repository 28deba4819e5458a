"""Numbers in the documentation's tables are those of the records that they name."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest

from sraven.board.board import read_board

DOCS = Path(__file__).parents[1] / "docs"


def row_of(step):
    """Return the row of a step of training, as docs/baselines.md has it."""
    times = step["milliseconds"]
    cells = [f"`{step['board']}`", f"`{step['attention']}`"]
    cells += [f"{ms:.1f}" for ms in (times["step"], times["step_of_all_tokens"])]
    cells.append(f"{100 * step['share_of_product']['real']:.0f} %")
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


FIRST_PAGE = (DOCS.parent / "README.md").read_text().partition("### In the paper's settings")[2]


def cells_of(name):
    """Return the cells of a row of README.md's table of results in the paper's settings."""
    [row] = [line for line in FIRST_PAGE.splitlines() if line.startswith(f"| {name}")]
    return [cell.strip() for cell in row.strip("|").split("|")][1:]


@pytest.mark.parametrize(
    ("name", "attention"),
    [("softmax attention", "softmax"), ("linear attention", "linear"), ("HYLA", "hyla")],
)
def test_the_first_page_has_the_scores_of_the_records(name, attention):
    known, new, sraven_known, sraven_new = cells_of(name)
    filed = DOCS / "leaderboard" / "submissions" / "fuzzylogic-v1"
    entry = filed / f"20261127-{attention}-one-way-buckets-6-400-000-instances"
    splits = json.loads((entry / "scores.json").read_text())["splits"]
    found = [splits[split]["metrics"]["r2_per_sequence"]["mean"] for split in ("test", "ood")]
    assert [known, new] == [f"{value:.3f}" for value in found]
    shown = {"softmax": "softmax attention 0", "linear": "linear attention 0", "hyla": "HYLA has 0"}[
        attention
    ]
    main = re.sub(r"\s+", " ", (DOCS / "results.md").read_text().partition("four variables**")[2])
    assert main.partition(shown)[2].startswith(f".{new[2:]} ")
    folder = DOCS / "results" / "reproduction" / "table-a1-sraven"
    runs = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    wanted = {"attention": attention, "feedforward": "mlp", "learning_rate": 0.001}
    scores = [run["scores"] for run in runs if wanted.items() <= run["config"].items()]
    means = [np.mean([each[split]["accuracy"] for each in scores]) for split in ("test", "ood")]
    assert (sraven_known, sraven_new) == tuple(f"{mean:.3f}" for mean in means)


def test_the_first_page_says_what_the_filed_networks_keep():
    page = (DOCS.parent / "README.md").read_text()
    filed = DOCS / "leaderboard" / "submissions"

    def found(board, entry):
        scores = filed / board / entry / "scores.json"
        return read_board(board).composing(json.loads(scores.read_text())["splits"])

    def shown(estimate):
        return "{:.2f} ({:.2f} to {:.2f})".format(estimate.value, *estimate.interval)

    control = "softmax attention, the control: all pairs known"
    for name, board, entry in (
        ("softmax attention", "camps3", "20261128-softmax-warm-up-100-2-000-000-instances"),
        ("HYLA", "camps3", "20261128-hyla-warm-up-100-2-000-000-instances"),
        (control, "scattered3", "20261129-softmax-warm-up-100-2-000-000-instances"),
        ("composing network, 0.5 million", "camps3", "20261128-composing-rate-0-002-499-968-instances"),
    ):
        scored = found(f"sraven-{board}-v1", entry)
        record, shares = siblings_of(f"sraven-{board}-v1/{entry}")
        features = record["features"]
        cells = [*map(shown, (scored.known, scored.held_out))]
        cells.append("{known[value]:.2f} → {held_out[value]:.2f}".format(**features))
        lost = "{:.2f} ({:.2f} to {:.2f})".format(features["lost"]["value"], *features["lost"]["interval"])
        cells.append(lost.replace("-0.00", "0.00"))
        cells += [
            "{:.2f} / {:.2f}".format(*shares[place])
            for place in (("test", "fit both"), ("ood", "fit neither"))
        ]
        assert f"| {name} | {' | '.join(cells)} |" in page
    for attention, name in NAMES.items():
        entry = f"20261127-{attention}-6-400-000-instances/scores.json"
        five, terms = (
            json.loads((filed / f"fuzzylogic-{board}-v1" / entry).read_text())["splits"]
            for board in ("l5", "l5-terms")
        )
        kept = read_board("fuzzylogic-l5-v1").composing(five)
        unknown = terms["ood_terms"]["metrics"]["r2_per_sequence"]["mean"]
        cells = [*map(shown, (kept.known, kept.held_out, kept.kept)), f"{unknown:.2f}"]
        assert f"| {name} | {' | '.join(cells)} |" in page
    columns = [
        read_board(f"fuzzylogic-{board}-v1").reference_levels(split)
        for board, split in (("l5", "test"), ("l5", "ood"), ("l5-terms", "ood_terms"))
    ]
    best = [max(line.value for line in lines if line.is_baseline) for lines in columns]
    told = [next(line.value for line in lines if line.name == "gp-symmetric") for lines in columns]
    for name, values in (("the best of five observers", best), ("but told the symmetry of variables", told)):
        known, new, unknown = (f"{value:.2f}" for value in values)
        row = f"| no composition, {name} | {known} | {new} | | {unknown} |"
        assert row in page


@pytest.mark.parametrize("split", ["ood", "ood_terms"])
@pytest.mark.parametrize("draw", ["split1", "split2"])
def test_with_other_draws_of_terms_hyla_alone_is_above_what_composes_nothing(draw, split):
    board = read_board(f"fuzzylogic-l5-{draw}-v1")
    best = max(line.value for line in board.reference_levels(split) if line.is_baseline)
    softmax, hyla = (
        json.loads(path.read_text())["splits"][split]["metrics"][board.metric]["by_seed"]
        for name in ("softmax", "hyla")
        for path in (DOCS / "leaderboard" / "submissions").glob(
            f"{board.id}/*-{name}-6-400-000-instances/scores.json"
        )
    )
    assert len(hyla) == len(softmax) == 2 and max(softmax) < best < min(hyla)


def test_differences_over_all_draws_are_the_records():
    found = json.loads((DOCS / "results" / "fuzzylogic-pooled.json").read_text())["result"]
    page = " ".join((DOCS.parent / "README.md").read_text().split())

    def shown(split, other, sign=1, digits=3):
        each = found[split][f"hyla less {other}"]
        low, high = sorted(sign * end for end in each["interval"])
        values = f"{sign * each['difference']:.{digits}f}", f"{low:.{digits}f}", f"{high:.{digits}f}"
        return "{} ({} to {})".format(*values)

    assert shown("ood", "known-terms").replace("(", "(95 % ") in page
    assert shown("ood", "softmax") in page and shown("ood_terms", "softmax", digits=2) in page
    assert shown("ood_terms", "gp-symmetric", -1) in page
    rows = [line for line in (DOCS / "fuzzylogic.md").read_text().splitlines() if line.startswith("| ")]
    tried = json.loads((DOCS / "results" / "fuzzylogic-observers.json").read_text())["result"]
    boards = tried["fuzzylogic-l5-terms-v1"], tried["fuzzylogic-terms-v1"]
    for name, scores in boards[0].items():
        splits = itertools.product(boards, ("test", "ood", "ood_terms"))
        cells = [f"{board[name][split]['value']:.3f}".replace("-", "−") for board, split in splits]
        assert f"| {name} | {scores['knows']} | {' | '.join(cells)} |" in rows


def test_what_is_kept_at_equal_accuracy_on_known_puzzles():
    page = (DOCS / "results" / "who-composes.md").read_text()
    rows = {"softmax attention": "softmax", "linear attention": "linear", "HYLA": "hyla"}
    lengths = {"2 million": "steps 15,625", "5 million": "steps 39,062"}
    shown = 0
    for board, record in (("", "equal-known"), ("control: ", "equal-known-control")):
        found = json.loads((DOCS / "results" / f"{record}.json").read_text())["result"]
        for (words, length), (name, attention) in itertools.product(lengths.items(), rows.items()):
            runs = [run for title, run in found.items() if title.startswith(f"{attention}, {length},")]
            if runs:
                start = f"| {board}{name}, {words} |"
                [row] = [line for line in page.splitlines() if line.startswith(start)]
                cells = [cell.split()[:1] for cell in row.strip("|").split("|")[1:]]
                for level, cell in zip(("0.3", "0.4", "0.5", "0.6", "0.7"), cells, strict=True):
                    kept = [run[level]["held_out"] / run[level]["known"] for run in runs if level in run]
                    assert cell == ([f"{np.mean(kept):.2f}"] if kept else []), (start, level)
                shown += 1
    assert shown == 12


SIBLINGS = json.loads((DOCS / "results" / "siblings.json").read_text())["result"]
NAMES = {"softmax": "softmax attention", "linear": "linear attention", "hyla": "HYLA"}


def siblings_of(entry):
    """Return the record of an entry, and right and as the sibling by split and partners."""
    found = SIBLINGS[entry]
    shares = {}
    for split, table in found["siblings"].items():
        for name, rows in itertools.groupby(table["rows"], lambda row: row["name"].split(",")[0]):
            counted = list(rows)
            total = sum(row["total"] for row in counted)
            wrong = [row["wrong"]["mean"] for row in counted]
            as_sibling = [
                share * row["of_wrong"]["the sibling's answer"]["mean"]
                for share, row in zip(wrong, counted, strict=True)
            ]
            weights = [row["total"] / total for row in counted]
            shares[split, name.removeprefix("partners ")] = (
                1 - np.dot(weights, wrong),
                np.dot(weights, as_sibling),
            )
    return found, shares


def long_run(board, attention):
    """Return the name of an entry of 5 million."""
    return f"sraven-{board}-v1/20261127-{attention}-4-999-936-instances"


@pytest.mark.parametrize("attention", NAMES)
def test_what_partners_do(attention):
    page = (DOCS / "results" / "who-composes.md").read_text().replace("**", "")
    for board, places in (
        ("blocks3", (("test", "tell"), ("ood", "fit neither"), ("ood", "mislead"))),
        ("few3", (("test", "tell"), ("test", "fit both"), ("ood", "fit neither"), ("ood", "mislead"))),
    ):
        found, shares = siblings_of(long_run(board, attention))
        cells = ["{:.2f} / {:.2f}".format(*shares[place]) for place in places]
        assert f"| {NAMES[attention]} | {' | '.join(cells)} |" in page
        features, control = found["features"], ", the control" * (board == "few3")
        lost = "{:.3f} ({:.3f} to {:.3f})".format(features["lost"]["value"], *features["lost"]["interval"])
        cells = [f"{features[split]['value']:.3f}" for split in ("known", "held_out")]
        cells += [lost.replace("-", "−"), ", ".join(f"{value:.3f}" for value in features["lost_by_seed"])]
        assert f"| `{board}`{control}: {NAMES[attention]} | {' | '.join(cells)} |" in page


def test_what_is_kept_if_addition_and_subtraction_count_as_one():
    found = [
        siblings_of(long_run("few3", attention))[0]["addition and subtraction as one"] for attention in NAMES
    ]
    kept = [each["held_out"] / each["known"] for each in found]
    page = (DOCS / "results" / "who-composes.md").read_text()
    assert "it is {2:.2f}, {1:.2f} and {0:.2f}".format(*kept) in page


def test_the_first_page_has_the_lines_of_the_boards():
    fuzzy, sraven = read_board("fuzzylogic-v1"), read_board("sraven-v1")
    lower = {
        (board.id, split): [f"{line.value:.3f}" for line in board.reference_levels(split) if line.is_baseline]
        for board in (fuzzy, sraven)
        for split in ("test", "ood")
    }
    known, new = lower["fuzzylogic-v1", "test"], lower["fuzzylogic-v1", "ood"]
    assert cells_of("no composition: linear in known functions |")[:2] == [known[0], new[0]]
    assert cells_of("no composition: linear in known functions and terms")[:2] == [known[1], new[1]]
    assert cells_of("no composition: a Gaussian process on the sequence alone")[:2] == [known[2], new[2]]
    assert cells_of("no composition: a Gaussian process, linear in")[:2] == [known[3], new[3]]
    assert cells_of("no composition: the nearest known function")[:2] == [known[4], new[4]]
    told = [
        next(line.value for line in fuzzy.reference_levels(split) if line.name == "gp-symmetric")
        for split in ("test", "ood")
    ]
    assert cells_of("no composition, but told the symmetry")[:2] == [f"{value:.3f}" for value in told]
    nearest = [*lower["sraven-v1", "test"], *lower["sraven-v1", "ood"]]
    assert cells_of("no composition: the nearest combination")[2:] == nearest
    best = [f"{sraven.ceiling(split, 'accuracy').value:.3f}" for split in ("test", "ood")]
    assert cells_of("best possible")[2:] == best


def test_what_is_made_of_others_is_told_from_networks():
    """Networks and ensembles of one's own stay below the bounds; votes, means and a changed copy don't."""
    page = (DOCS / "rules.md").read_text()
    shares = {}
    for name, found in json.loads((DOCS / "results" / "borrowed.json").read_text())["boards"].items():
        kind, is_numbers = read_board(name).task.scoring.comparison, name.startswith("fuzzylogic")
        for who, each in found.items():
            for title, share in ((title, values["borrowed"]) for title, values in each.items()):
                is_filed = who in ("entries", "own ensembles")
                assert is_filed == (share <= kind.most_borrowed) or title.endswith("on features"), (
                    name,
                    title,
                )
                if share:
                    shares.setdefault((who, title.endswith("on features"), is_numbers), []).append(share)
    for who, line in (("entries", "filed networks"), ("own ensembles", "ensembles of an entry's own")):
        ends = [f(shares[who, False, is_numbers]) for is_numbers in (False, True) for f in (min, max)]
        [row] = [row for row in page.splitlines() if row.startswith(f"| {line}")]
        assert row.endswith("| {:.2f} to {:.2f} | {:.2f} to {:.3f} |".format(*ends))
    votes = [f(shares["votes", on_features, False]) for on_features in (False, True) for f in (min, max)]
    assert "on panels; means | {:.3f} to {:g} | 1 |".format(*votes) in page
    assert "by itself | {2:.2f} to {3:.2f} | |".format(*votes) in page


def test_the_neighbours_on_the_easy_board():
    board = read_board("sraven-easy-v1")
    filed, rows = DOCS / "leaderboard" / "submissions" / board.id, []
    for words, name in (("50 thousand", "49-920"), ("100 thousand", "99-968")):
        cells = []
        for attention in ("softmax", "linear", "hyla"):
            [path] = filed.glob(f"*-{attention}-{name}-instances/scores.json")
            splits = json.loads(path.read_text())["splits"]
            means = [splits[split]["metrics"]["accuracy"]["mean"] for split in ("test", "ood")]
            cells.append("{:.2f} → {:.2f}".format(*means))
        cells.append(f"1 → {board.best_baseline.value:.2f}")
        rows.append(f"| {words} | {' | '.join(cells)} |")
    page = (DOCS / "own-model.md").read_text()
    assert [row for row in rows if row in page] == rows


def test_what_reviewers_asked():
    """Known and held-out accuracy of each network, and how it differs from the paper's, with the interval."""
    page = (DOCS / "results" / "reproduction" / "reviewers.md").read_text()
    compared = json.loads((DOCS / "results" / "reviewers.json").read_text())["compared"]
    wanted = []
    for name, found in compared.items():
        (known, _), (held_out, least) = ((found[s]["first"], found[s]["second"]) for s in ("test", "ood"))
        ends = found["ood"]["interval"]
        less = "" if held_out == least else "{:.2f} ({:.2f} to {:.2f}) ".format(held_out - least, *ends)
        less = less.replace("-0.00", "0.00").replace("-", "−")
        wanted.append(f"| {name} | {known:.3f} → {held_out:.3f} | {less}|")
    assert [row for row in wanted if row in page] == wanted
    assert len(wanted) == 18


def test_tiny_language_models():
    record = json.loads((DOCS / "results" / "language-model.json").read_text())
    pages, lines = (record["held_out"][name] for name in ("validation", "wikitext-2-validation"))
    tokens = 10_000 * 16 * 128

    def row(title, name):
        here, (low, high) = pages[name], np.exp(pages[name]["interval"])
        less = "{:.2f} ({:.2f} to {:.2f})".format(
            here["loss"] - pages["hyla-0"]["loss"], *here["above_first"]
        )
        bits = f"{here['bits_per_byte']:.3f}" if "bits_per_byte" in here else ""
        rate = f"{tokens / record['runs'][name]['seconds']:,.0f}" if name in record["runs"] else ""
        cells = [f"{here['perplexity']:.1f} ({low:.1f} to {high:.1f})", f"{here['loss']:.3f}"]
        cells += ["" if name == "hyla-0" else less.replace("-", "−"), bits]
        cells += [f"{lines[name]['perplexity']:.1f}", rate]
        return re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join([title, *cells])} |")

    page = (DOCS / "language-modelling.md").read_text()
    names = {"softmax": "softmax-0", "HYLA": "hyla-0", "linear": "linear-0", "bigram": "bigram"}
    wanted = [row(*each) for each in names.items()]
    frequencies = [np.exp(each["unigram_entropy"]) for each in (pages, lines)]
    wanted.append(
        "| frequencies of the pages themselves | {:.1f} | {:.3f} | | | {:.1f} | |".format(
            frequencies[0], pages["unigram_entropy"], frequencies[1]
        )
    )
    assert [each for each in wanted if each in page] == wanted
    for name, word in (("wikitext-2-validation", "lower"), ("c4-sample", "higher")):
        here = record["held_out"][name]
        less, ends = here["linear-0"]["loss"] - here["hyla-0"]["loss"], here["linear-0"]["above_first"]
        words = "{:.3f} ({:.3f} to {:.3f})".format(abs(less), *sorted(map(abs, ends)))
        assert (word == "lower") == (less > 0) and words in page
    assert f"{record['train']['tokens'] / 1e6:.1f} million tokens of RFCs" in page
    assert f"{pages['softmax-0']['documents']} pages of {pages['groups']} RFCs" in page


@pytest.mark.parametrize("name", ["camps", "blocks", "pairs", "sraven"])
def test_the_composing_network_with_four_features(name):
    board = read_board("sraven-v1" if name == "sraven" else f"sraven-{name}-v1")
    [path] = (DOCS / "leaderboard" / "submissions" / board.id).glob("*-composing-*/scores.json")
    splits = json.loads(path.read_text())["splits"]
    found = [splits[split]["metrics"]["accuracy"] for split in ("test", "ood")]
    cells = ["{:.3f} ({:.3f} to {:.3f})".format(each["mean"], *each["interval"]) for each in found]
    levels = [{line.name: line.value for line in board.reference_levels(split)} for split in ("test", "ood")]
    cells.append(" / ".join(f"{each['local']:.3f}" for each in levels))
    page = (DOCS / "results" / "reproduction" / "composing.md").read_text()
    row = f"| `{'sraven-v1' if name == 'sraven' else name}` | {' | '.join(cells)} |"
    assert row in page
    if name == "sraven":
        means = [f"{each['mean']:.3f}" for each in found]
        assert cells_of("composing network") == ["", "", *means]
        assert cells_of("no composition: each position") == ["", "", *cells[-1].split(" / ")]
