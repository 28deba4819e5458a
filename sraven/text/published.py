"""Questions on their way to the Hub, and there: a file of prompts verified, a repository compared."""

from io import SEEK_CUR
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
from sraven.text.records import OF_SOLVED, as_line, records

_MANIFEST_LIMIT, _MOST_FILES = 1 << 20, 1 << 12

_WRITES = "`sraven text generate` writes what can be published"


def read_sets(path: Path) -> tuple[Questions, ...]:
    """Return the sets of questions of a file of prompts, which are made anew and compared byte for byte.

    Args:
        path: what `sraven text generate` wrote; of several sets one after the other.

    Raises:
        ConfigurationError: if it isn't whole, differs, or has what can't be asked on the Hub.
    """
    sets: list[Questions] = []
    line = 0
    with open(path, "rb") as file:
        while first := file.readline(LONGEST_LINE):
            questions, solved = _begin(first, f"{path}, line {line + 1:,}")
            sets.append(questions)
            check_sets(sets)
            file.seek(-len(first), SEEK_CUR)
            for record in records(questions, solved=solved):
                line += 1
                wanted = as_line(record).encode()
                found = file.readline(len(wanted) + 1)
                if found != wanted:
                    differs = f", line {line:,} isn't what `sraven text generate` writes of"
                    raise ConfigurationError(
                        f"{path}{differs if found else ' ends before'} {record['id']}; write it anew, whole"
                    )
    if not sets:
        raise ConfigurationError(f"{path} has no prompts; {_WRITES}")
    return tuple(sets)


def _begin(line: bytes, where: str) -> tuple[Questions, bool]:
    """Return the questions that a line is the first of, and whether it is solved."""
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


def write_files(sets: tuple[Questions, ...], folder: Path) -> list[str]:
    """Write the files of the repository; return their names."""
    names = []
    for name, data in make_files(sets):
        (folder / name).parent.mkdir(exist_ok=True)
        write_bytes(folder / name, data)
        names.append(name)
    return names


def _manifest_sets(folder: Path) -> tuple[Questions, ...]:
    return read_manifest(read_file(folder, MANIFEST, _MANIFEST_LIMIT))


def expected(folder: Path) -> Expected:
    """Return what a repository with the manifest in a folder should hold: all files are made anew."""
    sets = _manifest_sets(folder)
    files = {name: sums_of(data) for name, data in make_files(sets)}
    return Expected({SPLIT: sum(questions.count for questions in sets)}, files, remade=True)


def verify_folder(folder: Path) -> tuple[int, list[str]]:
    """Compare a downloaded repository with its files made anew.

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
    strangers = sorted({*list_files(folder, _MOST_FILES)} - ours)
    faults += [f"not part of the questions: {escape(name)}" for name in strangers]
    return sum(questions.count for questions in sets), faults
