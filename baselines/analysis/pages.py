"""The page of what analyses of real runs found, written from their records.

A record is the `analysis.json` of a run, kept whole. No number of the page is written by hand. Pictures are
shown where files of their names lie beside it: `RECORD-codes-PAIR.svg`, which is the `tsne-PAIR.svg` of the
analysis, and `RECORD-codes-PAIR.txt`, what one sees there; `codes.txt` is about all of them. `earlier.txt`
has tables that earlier versions wrote, of what this one doesn't compute.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sraven.core.errors import OutputError
from sraven.core.system.files import read_bounded

PAGE = "latent-codes.md"
"""The page's name, in the folder of results."""

RECORDS = "analysis"
"""The folder of the records, in there."""

Rows = Callable[[Sequence["AnalysisRecord"]], Iterator[list[str]]]

_NOTHING = "–"
_NAMES = {"hyla": "HYLA", "softmax": "softmax", "linear": "linear"}

_HEAD = """# Latent codes of trained runs

Written from the records in `docs/results/analysis/`, which are the `analysis.json` of `sraven analyse` on
single runs: `sraven reproduce --render` writes this page anew. [Latent codes](../analysis.md) says what each
number means and what each control catches. One run is one network: nothing here says how another seed comes
out.

"""


class AnalysisRecord(NamedTuple):
    """An analysis that is kept.

    Attributes:
        name: of its file, without the end.
        found: what the file holds.
    """

    name: str
    found: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What run it is of."""
        run = self.found["run"]
        name = _NAMES.get(run["attention"], run["attention"].replace("_", " "))
        protocol = "" if self.found["protocol"] == "board" else f", {self.found['protocol']}"
        return f"{name}, {run['board']}, {run['steps']:,} steps, seed {run['seed']}{protocol}"

    @property
    def markdown(self) -> str:
        """Its name, as tables have it."""
        return f"`{self.name}`"

    @property
    def judged(self) -> str:
        """The part that all tables are about."""
        return str(self.found["judged"])


def read_records(folder: Path) -> list[AnalysisRecord]:
    """Return the records of a folder, by name; none if it isn't there.

    Raises:
        OutputError: if one can't be read.
    """
    records = []
    for path in sorted(folder.glob("*.json")):
        try:
            found = json.loads(read_bounded(path))
            records.append(AnalysisRecord(path.stem, found))
            _ = records[-1].title
        except (ValueError, KeyError, TypeError):
            raise OutputError(f"{path} isn't an analysis.json; remove it, or copy it again") from None
    return records


def render_page(results: Path) -> str:
    """Return the page, from the records in a folder of results."""
    records = read_records(results / RECORDS)
    parts = [_HEAD + _runs(records)]
    if pictures := [each for record in records for each in _pictures(record, results / RECORDS)]:
        parts += ["## Pictures of codes", _prose(results / RECORDS / "codes"), *pictures]
    for section in SECTIONS:
        if rows := list(section.rows(records)):
            parts.append(f"## {section.heading}\n\n{section.text}\n\n{_table(section.columns, rows)}")
    return "\n\n".join(filter(None, [*parts, _prose(results / RECORDS / "earlier")])) + "\n"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _runs(records: Sequence[AnalysisRecord]) -> str:
    """Return the runs with their scores, and the commits of both."""
    rows = []
    for record in records:
        run, scores = record.found["run"], record.found["scores"]
        metric = next(iter(scores["ood"]))
        trained = ", ".join(dict.fromkeys(each["commit"][:7] for each in run["trained_by"])) or _NOTHING
        found = (f"{scores[part][metric]['mean']:.4f}" for part in ("test", "ood"))
        rows.append([record.markdown, record.title, metric, *found, trained, record.found["commit"][:7]])
    return _table(("record", "run", "metric", "test", "ood", "trained at", "analysed at"), rows)


def _pictures(record: AnalysisRecord, folder: Path) -> Iterator[str]:
    """Yield pictures of a record, ``NAME-codes-PAIR.svg``, with what one sees by the ``.txt`` beside them."""
    is_sraven = record.found["run"]["board"].startswith("sraven")
    metric, given = ("accuracy", "row3_inputs") if is_sraven else ("balanced_accuracy", "raw_tokens")
    for pair, layers in record.found["decoding"].items():
        path = folder / f"{record.name}-codes-{pair}.svg"
        if path.is_file():
            layer, found = list(layers.items())[-1]
            probes = (found["probe"], found["controls"].get("untrained"), found["controls"].get(given))
            new, before, inputs = (score_of(each, record.judged, metric) for each in probes)
            known = score_of(found["probe"], "test", metric)
            yield f"![{record.title}: t-SNE of `{pair}` codes, and of controls]({RECORDS}/{path.name})"
            yield (
                f"*{record.title}, `{pair}`.* {_prose(path)} The probe of layer {layer}: {known} on known "
                f"combinations, {new} on held-out ones, where the untrained network has {before}, and "
                f"inputs alone {inputs}."
            )


def _prose(path: Path) -> str:
    """Return what was written by hand of a picture, if anything."""
    beside = path.with_suffix(".txt")
    return beside.read_text("utf-8").strip() if beside.is_file() else ""


def with_interval(found: Mapping[str, Any], digits: int = 3, undefined: str = _NOTHING) -> str:
    """Return a number with its interval, if it has them."""
    if found["value"] is None:
        return undefined
    ends = "" if found["low"] is None else f" [{found['low']:.{digits}f}, {found['high']:.{digits}f}]"
    return f"{found['value']:.{digits}f}{ends}"


def score_of(probe: Mapping[str, Any] | None, part: str, metric: str, interval: bool = False) -> str:
    """Return what a probe scores on a part."""
    found = (probe or {}).get("scores", {}).get(part, {}).get("metrics", {}).get(metric)
    if found is None:
        return _NOTHING
    return with_interval(found if interval else {**found, "low": None})


def _difference(found: Mapping[str, Any], names: str, part: str, metric: str) -> str:
    """Return a difference of two probes with its interval; early records have none."""
    value = found.get("differences", {}).get(names, {}).get(part, {}).get(metric)
    return _NOTHING if value is None else with_interval(value).replace("-", "−")


def _untrained(found: Mapping[str, Any], part: str, metric: str) -> str:
    """Return the mean over untrained networks and their range; of early records, the one that there is."""
    values = found.get("untrained", {}).get(part, {}).get(metric)
    if not values:
        return score_of(found["controls"].get("untrained"), part, metric)
    return f"{sum(values) / len(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def _probes(
    record: AnalysisRecord, metric: str, controls: Sequence[str], differences: Sequence[str]
) -> Iterator[list[str]]:
    """Yield what probes of each pair and layer score by a metric, and what beside them."""
    part = record.judged
    for pair, layers in record.found["decoding"].items():
        for layer, found in layers.items():
            own = score_of(found["probe"], part, metric, interval=True)
            own = "constant" if own == _NOTHING else own
            others = (score_of(found["controls"].get(name), part, metric) for name in controls)
            apart = (_difference(found, names, part, metric) for names in differences)
            known = score_of(found["probe"], "test", metric, interval=True)
            if known != _NOTHING:
                known += f" ({score_of(found['controls'].get('permuted'), 'test', metric)})"
            before = _untrained(found, part, metric)
            yield [record.markdown, f"`{pair}`", layer, known, own, before, *apart, *others]


def _rule_probes(record: AnalysisRecord) -> Iterator[list[str]]:
    controls = ("permuted", "raw_tokens", "row3_inputs", "codes_with_inputs", "bayes")
    differences = ("codes − untrained", "codes_with_inputs − row3_inputs")
    if record.found["run"]["board"].startswith("sraven"):
        yield from _probes(record, "accuracy", controls, differences)


def _term_probes(record: AnalysisRecord) -> Iterator[list[str]]:
    if not record.found["run"]["board"].startswith("sraven"):
        difference = ["codes − untrained"]
        balanced = _probes(record, "balanced_accuracy", ("permuted", "raw_tokens"), difference)
        f1 = _probes(record, "f1", ("always_positive",), difference)
        yield from ([*one, *other[3:]] for one, other in zip(balanced, f1, strict=True))


def _edits(record: AnalysisRecord) -> Iterator[list[str]]:
    for pair, rates in record.found.get("edits", {}).items():
        by_kind = {(each["layers"], each["kind"]): each["over_pairs"]["target_of_b"] for each in rates}
        for layers in ("all", "final"):
            kinds = ((layers, kind) for kind in ("edit", "random_direction", "random_rule"))
            shares = [by_kind[kind] for kind in (*kinds, ("all", "none"))]
            said = (f"{each['value']:.3f} ± {each['standard_error']:.3f}" for each in shares)
            yield [record.markdown, f"`{pair}`", layers, *said]


def _errors(record: AnalysisRecord) -> Iterator[list[str]]:
    found = record.found.get("errors", {}).get(record.judged)
    if found:
        (row,) = found["tables"]["overall"]["rows"]
        kinds = ("valid alternative", "correspondence", "another rule", "none of these")
        shares = (f"{row['of_wrong'][kind]['mean']:.3f}" for kind in kinds)
        yield [record.markdown, f"{1 - row['wrong']['mean']:.4f}", *shares]


# The sections ---------------------------------------------------------------------------------------------


def _of_each(rows: Callable[[AnalysisRecord], Iterator[list[str]]]) -> Rows:
    """Return the function of all records, given that of one."""
    return lambda records: (row for record in records for row in rows(record))


class PageTable(NamedTuple):
    """A table of the page.

    Attributes:
        heading: of the section.
        text: what its numbers are.
        columns: headings of the table.
        rows: yields the rows of all records.
    """

    heading: str
    text: str
    columns: tuple[str, ...]
    rows: Rows


SECTIONS = (
    PageTable(
        "Rules that a probe reads off",
        "Accuracy on held-out combinations, with intervals over combinations; of untrained networks the mean "
        "over five seeds and their range, or the run's own. A difference has an interval of its own, as both "
        "are judged on the same instances. Known combinations are those on which the probe was fitted, other "
        "instances of them; in brackets the same with labels permuted between combinations, which is above "
        "chance if codes tell combinations apart. More with known than with new partners says that the code "
        "of a rule, as a probe reads it, depends on its partner.",
        (
            *("record", "pair", "layer", "known combinations (permuted)", "codes, held out"),
            *("untrained", "codes − untrained"),
            *("what codes add to inputs", "permuted", "raw tokens", "row-3 inputs"),
            *("codes and inputs", "ceiling"),
        ),
        _of_each(_rule_probes),
    ),
    PageTable(
        "Terms that a probe reads off",
        "Balanced accuracy, whose chance is 0.5, and F1, both means over terms, on held-out combinations. "
        "F1 is to be read against that of a probe that always says yes.",
        (
            *("record", "pair", "layer", "known combinations (permuted)", "codes, held out", "untrained"),
            *("codes − untrained", "permuted", "raw tokens"),
            *("F1, known (permuted)", "held out", "of untrained", "codes − untrained", "of always yes"),
        ),
        _of_each(_term_probes),
    ),
    PageTable(
        "What codes do",
        "Codes moved from rule A to rule B: how often the answer is then the symbol of B. Means over pairs "
        "of rules, ± the standard error over these pairs.",
        ("record", "pair", "layers", "code of B", "random direction", "a third rule", "no edit"),
        _of_each(_edits),
    ),
    PageTable(
        "Wrong answers, sorted",
        "[By kind](../errors.md), as shares of the wrong ones.",
        ("record", "accuracy", "valid alternative", "correspondence", "another rule", "none of these"),
        _of_each(_errors),
    ),
)
"""The tables of the page, in order; one that no record has rows for is left out."""
