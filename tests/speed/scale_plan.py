"""The tables of docs/scale.md, from the records that the rates are in.

    python tests/speed/scale_plan.py

writes them again; `tests/speed/scale.py` does so after it has measured.
"""

import json
import re
from pathlib import Path

from sraven.core.system.files import write_text

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "scale.md"

INSTANCES = 10**10
SHARD = 262_144

DOCUMENTS, FILES = 365_000_000, 1024
PACKED, TEXT, TOKENS = 305e9, 806e9, 156e9
"""C4, en: documents, files, bytes as they are downloaded, bytes unpacked, and tokens: those of Dodge et al.,
“Documenting Large Webtext Corpora” (2021), Table 1.
"""

TOKEN_BYTES, DOCUMENT_BYTES = 2, 32
"""On disk: a token, and a document's row."""

SUBMISSIONS = 10_000

_HOUR = 3600.0


def _read(name):
    return dict(json.loads((DOCS / "results" / name).read_text()))


def _table(heading, rows):
    lines = [heading, ("---",) * len(heading), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _hours(value):
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _span(hours):
    """Return a time in the unit that suits it."""
    seconds = hours * _HOUR
    for unit, name in ((_HOUR, "h"), (60.0, "min")):
        if seconds >= unit:
            return f"{seconds / unit:,.1f} {name}"
    return f"{seconds:.0f} s"


def rates(scale):
    """Return the table of measured rates."""
    writing, after = scale["writing"], scale["after"]
    per_second, starts = writing["instances_per_second"], writing["start_seconds"]
    rows = [
        ("one thread", f"{per_second['local 1']:,.0f}", "–"),
        ("two threads", f"{per_second['local 2']:,.0f}", "–"),
        ("Ray, one worker", f"{per_second['ray 1']:,.0f}", f"{starts['ray 1']:.0f}"),
        ("Ray, two workers", f"{per_second['ray 2']:,.0f}", f"{starts['ray 2']:.0f}"),
        ("`sraven verify`, one thread", f"{after['verify_instances_per_second']:,.0f}", "–"),
    ]
    return _table(("on this machine", "instances a second", "seconds to start"), rows)


def plan(scale, preparation):
    """Return the table of what is planned."""
    after, driver = scale["after"], scale["driver"]
    writing = scale["writing"]["instances_per_second"]["local 1"]
    speed = preparation["megabytes_per_second"]["prepare"] * 1e6
    made, prepared = INSTANCES / writing / _HOUR, TEXT / speed / _HOUR
    merge = after["merge_bytes_per_second"]
    size, text = INSTANCES * after["bytes_per_instance"], TOKENS * TOKEN_BYTES + DOCUMENTS * DOCUMENT_BYTES
    verify = INSTANCES / after["verify_instances_per_second"] / _HOUR
    rows = [
        ("files", f"{driver['shards']:,}", f"{2 * FILES:,} of {FILES:,} sources"),
        ("core-hours", _hours(made), _hours(prepared)),
        ("with 64 workers", _span(made / 64), _span(prepared / 64)),
        ("with 1,000 workers", _span(made / 1000), _span(prepared / 1000)),
        ("TB written", f"{size / 1e12:.2f}", f"{text / 1e12:.2f}"),
        ("TB read", "0", f"{PACKED / 1e12:.2f}"),
        ("to merge parts, one process", _span(size / merge / _HOUR), _span(text / merge / _HOUR)),
        ("core-hours to verify", _hours(verify), "–"),
    ]
    return _table(("", f"{INSTANCES:,} instances", "C4, en"), rows)


def submissions(scoring):
    """Return the table of what very many submissions take."""
    each, used = scoring["core_seconds_each"], SUBMISSIONS * scoring["core_seconds_each"] / _HOUR
    rows = [
        ("core-seconds each, after the first", f"{each:.2f}"),
        ("core-hours", _hours(used)),
        ("on two cores", _span(used / 2)),
        ("with 64 processes of one core", _span(used / 64)),
        ("GB of predictions", f"{SUBMISSIONS * scoring['bytes_each'] / 1e9:.1f}"),
    ]
    heading = f"{SUBMISSIONS:,} submissions of {scoring['seeds']} seeds to `{scoring['board']}`"
    return _table((heading, ""), rows)


def driver(scale):
    """Return the table of what one process has to do for all files."""
    found, many = scale["driver"], scale["many"]
    rows = [
        ("lists the files", f"{found['list_seconds']:.1f} s"),
        ("notes a finished file", f"{1000 / found['notes_per_second']:.1f} ms"),
        ("the journal", f"{found['journal_bytes'] / 1e6:,.0f} MB"),
        ("reads it to go on", f"{found['journal_read_seconds']:,.0f} s"),
        ("holds tallies in memory", f"{found['tallies_bytes'] / 1e6:,.0f} MB"),
        ("makes the manifest", f"{found['manifest_seconds']:.1f} s"),
        ("`manifest.json`", f"{found['manifest_bytes'] / 1e6:.1f} MB (64 MiB at most)"),
        ("`croissant.json`", f"{found['croissant_bytes'] / 1e6:.1f} MB"),
        ("64 simulated workers work", f"{100 * many['64']:.0f} % of the time"),
        ("1,000 simulated workers work", f"{100 * many['1000']:.0f} % of the time"),
        (
            "empty jobs through Ray, a second",
            f"{scale['writing']['instances_per_second']['ray, empty jobs']:,.0f}",
        ),
    ]
    return _table(("one process, 10,000,000,000 instances", ""), rows)


def page(text):
    """Return the page with its tables made again."""
    scale = _read("scale.json")
    tables = {
        "rates": rates(scale),
        "plan": plan(scale, _read("preparation.json")),
        "driver": driver(scale),
        "submissions": submissions(_read("scoring.json")),
    }
    for name, table in tables.items():
        marks = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(
            marks, lambda found, table=table: f"{found[1]}\n{table}\n{found[2]}", text, flags=re.DOTALL
        )
    return text


def render():
    """Write the page's tables."""
    write_text(PAGE, page(PAGE.read_text()))


if __name__ == "__main__":
    render()
