"""Questions on their way to the Hub, and there: a file of prompts verified, a repository compared."""

from collections.abc import Iterator
from pathlib import Path

from sraven.core.base.errors import ConfigurationError, SubmissionError
from sraven.core.base.escape import escape
from sraven.core.hub.remote import Expected, sums_of
from sraven.core.system.files import write_bytes
from sraven.core.untrusted.read import list_files, read_file
from sraven.core.untrusted.strict_json import parse_json
from sraven.text.benchmark import MANIFEST, SPLIT, check_sets, make_files, read_manifest
from sraven.text.completions import LONGEST_LINE
from sraven.text.ids import find_question
from sraven.text.questions import Questions
from sraven.text.records import OF_SOLVED, Record, as_line, records

_MANIFEST_LIMIT, _MOST_FILES = 1 << 20, 1 << 12

_WRITES = "`sraven text generate` writes what can be published"


def read_sets(path: Path) -> tuple[Questions, ...]:
    """Return the sets of questions of a file of prompts, which are recomputed and compared byte for byte.

    Args:
        path: what `sraven text generate` wrote; of several sets in any order, each
            from its first question on.

    Raises:
        ConfigurationError: if it isn't whole, differs, or has what can't be asked on the Hub.
    """
    sets: list[Questions] = []
    left: dict[Questions, Iterator[Record]] = {}
    with open(path, "rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            questions, solved = _begin(line, f"{path}, line {number:,}")
            if questions not in left:
                sets.append(questions)
                check_sets(sets)
                left[questions] = records(questions, solved=solved)
            if (record := next(left[questions], None)) is None:
                check_sets([*sets, questions])  # it stands there twice
            elif as_line(record).encode() != line:
                raise _differs(f"{path}, line {number:,} isn't what `sraven text generate` writes of", record)
    for each in left.values():
        if record := next(each, None):
            raise _differs(f"{path} ends before", record)
    if not sets:
        raise ConfigurationError(f"{path} has no prompts; {_WRITES}")
    return tuple(sets)


def _differs(what: str, record: Record) -> ConfigurationError:
    return ConfigurationError(f"{what} {record['id']}; write the whole file again")


def _begin(line: bytes, where: str) -> tuple[Questions, bool]:
    """Return the questions that a line is of, and whether it is solved."""
    try:
        record = parse_json(line)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise ConfigurationError(f"{where} is no object of JSON; {_WRITES}")
    try:
        return find_question(record.get("id"))[0], OF_SOLVED[0] in record
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from None


def write_files(sets: tuple[Questions, ...], folder: Path) -> None:
    """Write the files of the repository."""
    for name, data in make_files(sets):
        (folder / name).parent.mkdir(exist_ok=True)
        write_bytes(folder / name, data)


def _manifest_sets(folder: Path) -> tuple[Questions, ...]:
    return read_manifest(read_file(folder, MANIFEST, _MANIFEST_LIMIT))


def expected(folder: Path) -> Expected:
    """Return what a repository with the manifest in a folder should hold: all files are recomputed."""
    sets = _manifest_sets(folder)
    files = {name: sums_of(data) for name, data in make_files(sets)}
    return Expected({SPLIT: sum(questions.count for questions in sets)}, files, remade=True)


def verify_folder(folder: Path) -> tuple[int, list[str]]:
    """Compare a downloaded repository with its files recomputed.

    Returns:
        the number of questions, and what is wrong, a line each.
    """
    sets, faults, ours = _manifest_sets(folder), [], set()
    for name, data in make_files(sets):
        ours.add(name)
        try:
            same = read_file(folder, name, len(data)) == data
        except SubmissionError as error:
            faults.append(str(error))
        else:
            faults += [] if same else [f"{name} isn't what its questions give"]
    others = sorted({*list_files(folder, _MOST_FILES)} - ours)
    faults += [f"not part of the questions: {escape(name)}" for name in others]
    return sum(questions.count for questions in sets), faults
