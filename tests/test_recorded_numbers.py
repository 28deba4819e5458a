"""Numbers in the documentation's tables are those of the records that they name."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest

from sraven.board.board import read_board

DOCS = Path(__file__).parents[1] / "docs"
BOTH = "test", "ood"
FILED = DOCS / "leaderboard" / "submissions"
README = (DOCS.parent / "README.md").read_text()

NAMES = {"softmax": "softmax attention", "linear": "linear attention", "hyla": "HYLA"}


def page(name):
    """Return a page of the documentation."""
    return (DOCS / f"{name}.md").read_text()


def record(name):
    """Return a record of results."""
    return json.loads((DOCS / "results" / f"{name}.json").read_text())


def splits_of(entry):
    """Return what a filed entry scores by split, given its id or a pattern of it."""
    [path] = FILED.glob(f"{entry}/scores.json")
    return json.loads(path.read_text())["splits"]


def row(*cells):
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def shown(estimate, digits=2):
    """Return an estimate with its interval."""
    return ranged(estimate.value, estimate.interval, digits)


def ranged(value, interval, digits=2):
    """Return a value with its interval, as pages have it: with minus signs, none before 0."""
    text = "{:z.{digits}f} ({:z.{digits}f} to {:z.{digits}f})".format(value, *interval, digits=digits)
    return text.replace("-", "−")


def by_seed(values):
    """Return the cell of what each seed has."""
    return ", ".join(f"{value:.3f}" for value in values).replace("-", "−")


def parts_kept(features):
    """Return the cells of features right at equal rules: known, held out, and how many are lost."""
    known, held_out, lost = (features[name] for name in ("known", "held_out", "lost"))
    return f"{known['value']:.3f}", f"{held_out['value']:.3f}", ranged(lost["value"], lost["interval"], 3)


def baselines_of(board, split):
    """Return the reference levels of a split that compose nothing."""
    return [line.value for line in board.reference_levels(split) if line.is_baseline]


def level_of(board, split, name):
    """Return a reference level of a split by its name."""
    return next(line.value for line in board.reference_levels(split) if line.name == name)


def test_steps_of_training():
    found = record("training-speed")
    wanted = [
        row(
            f"`{step['board']}`",
            f"`{step['attention']}`",
            *(f"{step['milliseconds'][name]:.1f}" for name in ("step", "step_of_all_tokens")),
            f"{100 * step['share_of_product']['real']:.0f} %",
        )
        for step in found["steps"]
    ]
    assert [line for line in page("baselines").splitlines() if line in wanted] == wanted
    assert f"the {found['product_gflops']:.0f} GFLOP/s at which the same run multiplies" in page("baselines")


def rounded(rate):
    """Return a rate with three digits, as docs/sraven.md has it."""
    return "–" if rate is None else f"{float(f'{rate:.3g}'):,.0f}"


def test_certificates_and_observers():
    rows = [
        row(f"{each['M']}, {each['K']}", rounded(each["certify"]), rounded(each["observe"]))
        for each in record("certificates")["instances_per_second"]
    ]
    table = "\n".join(["| M, K | `count_answers` | `ideal_observer` |", "| --- | --- | --- |", *rows])
    assert table in page("sraven")


def cells_of(name):
    """Return the cells of a row of README.md's table of results in the paper's settings."""
    lines = README.partition("### In the paper's settings")[2].splitlines()
    [line] = [line for line in lines if line.startswith(f"| {name}")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


@pytest.mark.parametrize("attention", NAMES)
def test_the_first_page_has_the_scores_of_the_records(attention):
    known, new, sraven_known, sraven_new = cells_of(NAMES[attention])
    splits = splits_of(f"fuzzylogic-v1/20261127-{attention}-one-way-buckets-6-400-000-instances")
    found = [splits[split]["metrics"]["r2_per_sequence"]["mean"] for split in BOTH]
    assert [known, new] == [f"{value:.3f}" for value in found]
    shown = {"hyla": "HYLA has 0"}.get(attention, f"{NAMES[attention]} 0")
    main = re.sub(r"\s+", " ", page("results").partition("four variables**")[2])
    assert main.partition(shown)[2].startswith(f".{new[2:]} ")
    folder = DOCS / "results" / "reproduction" / "table-a1-sraven"
    runs = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    wanted = {"attention": attention, "feedforward": "mlp", "learning_rate": 0.001}
    scores = [run["scores"] for run in runs if wanted.items() <= run["config"].items()]
    means = [np.mean([each[split]["accuracy"] for each in scores]) for split in BOTH]
    assert (sraven_known, sraven_new) == tuple(f"{mean:.3f}" for mean in means)


def two_million(board, attention):
    """Return the name of an entry of 2 million, of a board whose division keeps siblings together."""
    [entry] = (FILED / f"sraven-{board}-v1").glob(f"*-{attention}-three-seeds-2-000-000-instances")
    return f"{entry.parent.name}/{entry.name}"


COMPOSING = "sraven-camps3-v1/20261128-composing-rate-0-002-499-968-instances"


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        *((title, two_million("camps3", attention)) for attention, title in NAMES.items()),
        *((f"control: {title}", two_million("scattered3", attention)) for attention, title in NAMES.items()),
        *((f"ring: {title}", two_million("ring3", attention)) for attention, title in NAMES.items()),
        ("composing network, 0.5 million", COMPOSING),
    ],
)
def test_what_networks_of_sraven_keep(name, entry):
    board = entry.partition("/")[0]
    kept = read_board(board).composing(splits_of(entry))
    features, partners = SIBLINGS[entry]["features"], partners_of(entry)
    ends = [partners[place] for place in (("test", "fit both"), ("ood", "fit neither"))]
    cells = [
        *map(shown, (kept.known, kept.held_out)),
        "{known[value]:.2f} → {held_out[value]:.2f}".format(**features),
        ranged(features["lost"]["value"], features["lost"]["interval"]),
        *ends,
    ]
    assert row(name, *cells) in README or name.startswith("ring: ")
    if entry != COMPOSING:
        cells = [*(shown(each, 3) for each in (kept.known, kept.held_out)), *parts_kept(features), *ends]
        where = f"`{board.split('-')[1]}`"
        assert row(f"{where}: {name.rpartition(': ')[2]}", *cells) in page("results/rows-or-partners")


@pytest.mark.parametrize("boards", [("camps3", "scattered3"), ("ring3", "camps3")])
@pytest.mark.parametrize("attention", NAMES)
def test_what_is_lost_by_seed_and_how_much_more_than_on_another_board(attention, boards):
    found, cells = record("rows-or-partners-tests"), []
    for board in boards:
        lost = list(found["lost"][f"{board} {attention}"].values())
        entry = SIBLINGS[two_million(board, attention)]["features"]
        assert lost == pytest.approx(entry["lost_by_seed"], abs=2e-6)
        cells.append(by_seed(lost))
    one, other = boards
    test = found["result"][f"{one} and {other}"][f"{one} {attention} less {other} {attention}"]
    cells += [ranged(test["difference"], test["interval"], 3), f"{test['p_holm']:.3f}"]
    assert row(NAMES[attention], *cells) in page("results/rows-or-partners")
    amount, interval = test["difference"], test["interval"]
    more = ranged(amount, interval) if amount > 0 else ranged(-amount, [-end for end in reversed(interval)])
    for text in (README, page("results")):
        assert more in " ".join(text.split()).replace("95 % over seeds ", "")


def test_what_is_solved_of_puzzles_with_two_new_pairs():
    def solved(board, attention):
        kept = read_board(f"sraven-{board}-v1").composing(splits_of(two_million(board, attention)))
        return next(each.score.value for each in kept.by_new_pairs if each.pairs == 2)

    two = {board: [solved(board, attention) for attention in NAMES] for board in ("ring3", "camps3")}
    listed = "{:.{d}f}, {:.{d}f} and {:.{d}f}".format
    ours, theirs = (listed(*two[board], d=3) for board in ("ring3", "camps3"))
    assert f"they solve {ours} in place of {theirs}" in " ".join(page("results/rows-or-partners").split())
    said = f"solve {listed(*two['ring3'], d=2)} of the puzzles with two new pairs"
    for text in (README, page("results")):
        assert said in " ".join(text.split())


def held_out_of_each_seed(attention, level):
    """Return what seeds on `camps3` have of held-out panels, by their logs, where they have as many known."""
    found = record("equal-known-camps3")["result"] | record("equal-known-camps3-seeds")["result"]
    yield from (run[level]["held_out"] for name, run in found.items() if name.startswith(attention))
    groups = record("composing-curves")["result"]["groups"]
    for curves in (group["curves"] for group in groups if group["name"].startswith(attention)):
        scores, held_out = (np.array(curves[split]["mean"]) for split in BOTH)
        yield held_out[np.abs(scores - float(level)) <= 0.05].mean()


@pytest.mark.parametrize(("attention", "level"), [("softmax", "0.55"), ("linear", "0.5"), ("hyla", "0.4")])
def test_what_is_held_out_at_as_many_known_panels_as_in_the_control(attention, level):
    known, control = (
        splits_of(two_million("scattered3", attention))[split]["metrics"]["accuracy"]["mean"]
        for split in BOTH
    )
    found = list(held_out_of_each_seed(attention, level))
    assert len(found) == 3 and abs(known - float(level)) <= 0.05
    for text, digits in ((README, 2), (page("results/rows-or-partners"), 3)):
        sentence = " ".join(text.split()).partition("Where ")[2]
        ours, theirs = f"{np.mean(found):.{digits}f}", f"{control:.{digits}f}"
        said = rf"{NAMES[attention]} (?:solves |has )?{ours} [a-z- ]*in place of {theirs}"
        assert re.search(said, sentence), said


@pytest.mark.parametrize("attention", NAMES)
def test_the_first_page_says_what_networks_of_fuzzy_logic_keep(attention):
    five, terms = (
        splits_of(f"fuzzylogic-{board}-v1/20261127-{attention}-6-400-000-instances")
        for board in ("l5", "l5-terms")
    )
    kept = read_board("fuzzylogic-l5-v1").composing(five)
    cells = map(shown, (kept.known, kept.held_out, kept.kept))
    unknown = terms["ood_terms"]["metrics"]["r2_per_sequence"]["mean"]
    assert row(NAMES[attention], *cells, f"{unknown:.2f}") in README


def test_the_first_page_has_the_levels_of_fuzzy_logic_with_five_variables():
    five, terms = (read_board(f"fuzzylogic-{name}-v1") for name in ("l5", "l5-terms"))
    columns = (five, "test"), (five, "ood"), (terms, "ood_terms")
    best = [max(baselines_of(*column)) for column in columns]
    told = [level_of(*column, "gp-symmetric") for column in columns]
    for name, values in (("the best of five observers", best), ("but told the symmetry of variables", told)):
        known, new, unknown = (f"{value:.2f}" for value in values)
        assert f"| no composition, {name} | {known} | {new} | | {unknown} |" in README


@pytest.mark.parametrize("split", ["ood", "ood_terms"])
@pytest.mark.parametrize("draw", ["split1", "split2"])
def test_with_other_draws_of_terms_hyla_alone_is_above_what_composes_nothing(draw, split):
    board = read_board(f"fuzzylogic-l5-{draw}-v1")
    softmax, hyla = (
        splits_of(f"{board.id}/*-{name}-6-400-000-instances")[split]["metrics"][board.metric]["by_seed"]
        for name in ("softmax", "hyla")
    )
    assert len(hyla) == len(softmax) == 2 and max(softmax) < max(baselines_of(board, split)) < min(hyla)


def test_differences_over_all_draws_are_the_records():
    found = record("fuzzylogic-pooled")["result"]
    words = " ".join(README.split())

    def less(split, other, sign=1, digits=3):
        each = found[split][f"hyla less {other}"]
        return ranged(sign * each["difference"], sorted(sign * end for end in each["interval"]), digits)

    assert less("ood", "known-terms").replace("(", "(95 % ") in words
    assert less("ood", "softmax") in words and less("ood_terms", "softmax", digits=2) in words
    assert less("ood_terms", "gp-symmetric", -1) in words
    rows = [line for line in page("fuzzylogic").splitlines() if line.startswith("| ")]
    tried = record("fuzzylogic-observers")["result"]
    boards = tried["fuzzylogic-l5-terms-v1"], tried["fuzzylogic-terms-v1"]
    for name, scores in boards[0].items():
        splits = itertools.product(boards, ("test", "ood", "ood_terms"))
        cells = [f"{board[name][split]['value']:.3f}".replace("-", "−") for board, split in splits]
        assert row(name, scores["knows"], *cells) in rows


def test_what_is_kept_at_equal_accuracy_on_known_puzzles():
    lines = page("results/who-composes").splitlines()
    lengths = {"2 million": "steps 15,625", "5 million": "steps 39,062"}
    shown = 0
    for board, name in (("", "equal-known"), ("control: ", "equal-known-control")):
        found = record(name)["result"]
        for (words, length), (attention, title) in itertools.product(lengths.items(), NAMES.items()):
            runs = [run for name, run in found.items() if name.startswith(f"{attention}, {length},")]
            if runs:
                start = f"| {board}{title}, {words} |"
                [line] = [line for line in lines if line.startswith(start)]
                cells = [cell.split()[:1] for cell in line.strip("|").split("|")[1:]]
                for level, cell in zip(("0.3", "0.4", "0.5", "0.6", "0.7"), cells, strict=True):
                    kept = [run[level]["held_out"] / run[level]["known"] for run in runs if level in run]
                    assert cell == ([f"{np.mean(kept):.2f}"] if kept else []), (start, level)
                shown += 1
    assert shown == 12


SIBLINGS = record("siblings")["result"]


def partners_of(entry):
    """Return which share of an entry's answers is right, and which the sibling's, by split and partners."""
    shares = {}
    for split, table in SIBLINGS[entry]["siblings"].items():
        for name, rows in itertools.groupby(table["rows"], lambda row: row["name"].split(",")[0]):
            counted = list(rows)
            wrong = np.array([row["wrong"]["mean"] for row in counted])
            as_sibling = wrong * [row["of_wrong"]["the sibling's answer"]["mean"] for row in counted]
            means = np.average([1 - wrong, as_sibling], axis=1, weights=[row["total"] for row in counted])
            shares[split, name.removeprefix("partners ")] = "{:.2f} / {:.2f}".format(*means)
    return shares


def long_run(board, attention):
    """Return the name of an entry of 5 million."""
    return f"sraven-{board}-v1/20261127-{attention}-4-999-936-instances"


@pytest.mark.parametrize("attention", NAMES)
def test_what_partners_do(attention):
    text = page("results/who-composes").replace("**", "")
    for board, places in (
        ("blocks3", (("test", "tell"), ("ood", "fit neither"), ("ood", "mislead"))),
        ("few3", (("test", "tell"), ("test", "fit both"), ("ood", "fit neither"), ("ood", "mislead"))),
    ):
        entry, control = long_run(board, attention), ", the control" * (board == "few3")
        partners, features = partners_of(entry), SIBLINGS[entry]["features"]
        assert row(NAMES[attention], *(partners[place] for place in places)) in text
        cells = *parts_kept(features), by_seed(features["lost_by_seed"])
        assert row(f"`{board}`{control}: {NAMES[attention]}", *cells) in text


def test_what_is_kept_if_addition_and_subtraction_count_as_one():
    found = [SIBLINGS[long_run("few3", attention)]["addition and subtraction as one"] for attention in NAMES]
    kept = [each["held_out"] / each["known"] for each in found]
    assert "it is {2:.2f}, {1:.2f} and {0:.2f}".format(*kept) in page("results/who-composes")


def test_the_first_page_has_the_lines_of_the_boards():
    fuzzy, sraven = read_board("fuzzylogic-v1"), read_board("sraven-v1")
    names = (
        "no composition: linear in known functions |",
        "no composition: linear in known functions and terms",
        "no composition: a Gaussian process on the sequence alone",
        "no composition: a Gaussian process, linear in",
        "no composition: the nearest known function",
    )
    columns = [baselines_of(fuzzy, split) for split in BOTH]
    told = [level_of(fuzzy, split, "gp-symmetric") for split in BOTH]
    rows = *zip(names, *columns, strict=True), ("no composition, but told the symmetry", *told)
    for name, *values in rows:
        assert cells_of(name)[:2] == [f"{value:.3f}" for value in values]
    nearest = [value for split in BOTH for value in baselines_of(sraven, split)]
    best = [sraven.ceiling(split, "accuracy").value for split in BOTH]
    for name, values in (("no composition: the nearest combination", nearest), ("best possible", best)):
        assert cells_of(name)[2:] == [f"{value:.3f}" for value in values]


def test_what_is_made_of_others_is_told_from_networks():
    """Networks and ensembles of one's own stay below the bounds; votes, means and a changed copy don't."""
    text, shares = page("rules"), {}
    for name, found in record("borrowed")["boards"].items():
        kind, is_numbers = read_board(name).task.scoring.comparison, name.startswith("fuzzylogic")
        for who, each in found.items():
            for title, values in each.items():
                share, on_features = values["borrowed"], title.endswith("on features")
                is_filed = who in ("entries", "own ensembles")
                assert is_filed == (share <= kind.most_borrowed) or on_features, (name, title)
                if share:
                    shares.setdefault((who, on_features, is_numbers), []).append(share)
    for who, line in (("entries", "filed networks"), ("own ensembles", "ensembles of an entry's own")):
        ends = [f(shares[who, False, is_numbers]) for is_numbers in (False, True) for f in (min, max)]
        [found] = [line_ for line_ in text.splitlines() if line_.startswith(f"| {line}")]
        assert found.endswith("| {:.2f} to {:.2f} | {:.2f} to {:.3f} |".format(*ends))
    votes = [f(shares["votes", on_features, False]) for on_features in (False, True) for f in (min, max)]
    assert "on panels; means | {:.3f} to {:g} | 1 |".format(*votes) in text
    assert "by itself | {2:.2f} to {3:.2f} | |".format(*votes) in text


@pytest.mark.parametrize(("words", "name"), [("50 thousand", "49-920"), ("100 thousand", "99-968")])
def test_the_neighbours_on_the_easy_board(words, name):
    board = read_board("sraven-easy-v1")
    cells = []
    for attention in NAMES:
        splits = splits_of(f"{board.id}/*-{attention}-{name}-instances")
        means = [splits[split]["metrics"]["accuracy"]["mean"] for split in BOTH]
        cells.append("{:.2f} → {:.2f}".format(*means))
    assert row(words, *cells, f"1 → {board.best_baseline.value:.2f}") in page("own-model")


def test_what_reviewers_asked():
    """Known and held-out accuracy of each network, and how it differs from the paper's, with the interval."""
    text, compared = page("results/reproduction/reviewers"), record("reviewers")["compared"]
    for name, found in compared.items():
        (known, _), (held_out, least) = ((found[s]["first"], found[s]["second"]) for s in ("test", "ood"))
        less = ranged(held_out - least, found["ood"]["interval"]) + " " if held_out != least else ""
        assert f"| {name} | {known:.3f} → {held_out:.3f} | {less}|" in text
    assert len(compared) == 18


def test_tiny_language_models():
    found, text = record("language-model"), page("language-modelling")
    pages, lines = (found["held_out"][name] for name in ("validation", "wikitext-2-validation"))
    names = {"softmax": "softmax-0", "HYLA": "hyla-0", "linear": "linear-0", "bigram": "bigram"}
    tokens = 10_000 * 16 * 128
    for title, name in names.items():
        here = pages[name]
        less = ranged(here["loss"] - pages["hyla-0"]["loss"], here["above_first"])
        cells = [
            ranged(here["perplexity"], np.exp(here["interval"]), 1),
            f"{here['loss']:.3f}",
            "" if name == "hyla-0" else less,
            f"{here['bits_per_byte']:.3f}" if "bits_per_byte" in here else "",
            f"{lines[name]['perplexity']:.1f}",
            f"{tokens / found['runs'][name]['seconds']:,.0f}" if name in found["runs"] else "",
        ]
        assert re.sub(r"\|  (?=\|)", "| ", row(title, *cells)) in text
    entropies = pages["unigram_entropy"], lines["unigram_entropy"]
    start = "| frequencies of the pages themselves | {:.1f} | {:.3f} | | | {:.1f} | |"
    assert start.format(np.exp(entropies[0]), entropies[0], np.exp(entropies[1])) in text
    for name, word in (("wikitext-2-validation", "lower"), ("c4-sample", "higher")):
        here = found["held_out"][name]
        less, ends = here["linear-0"]["loss"] - here["hyla-0"]["loss"], here["linear-0"]["above_first"]
        assert (word == "lower") == (less > 0)
        assert ranged(abs(less), sorted(map(abs, ends)), 3) in text
    assert f"{found['train']['tokens'] / 1e6:.1f} million tokens of RFCs" in text
    assert f"{pages['softmax-0']['documents']} pages of {pages['groups']} RFCs" in text


@pytest.mark.parametrize("name", ["camps", "blocks", "pairs", "sraven-v1"])
def test_the_composing_network_with_four_features(name):
    board = read_board(name if name == "sraven-v1" else f"sraven-{name}-v1")
    splits = splits_of(f"{board.id}/*-composing-*")
    found = [splits[split]["metrics"]["accuracy"] for split in BOTH]
    local = [f"{level_of(board, split, 'local'):.3f}" for split in BOTH]
    cells = [*(ranged(each["mean"], each["interval"], 3) for each in found), " / ".join(local)]
    assert row(f"`{name}`", *cells) in page("results/reproduction/composing")
    if name == "sraven-v1":
        assert cells_of("composing network") == ["", "", *(f"{each['mean']:.3f}" for each in found)]
        assert cells_of("no composition: each position") == ["", "", *local]
