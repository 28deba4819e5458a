"""Replies of language models, and files of them, attacked."""

from pathlib import Path

from fuzz.checks import refused
from fuzz.harness import FindingError

REPLIES = (
    b"Row 3 adds.\nAnswer: [3 6 2 0]\n",
    b"**Answer: [3 6 2 0]**",
    b"**Answer:** [ 3  6 2 0 ]\r\n",
    b"Answer: [0 0 0 0]\nAnswer: C",
    "Answer: [\u0663 \u0666 2 0]\u2028Answer: [1 2 3 4]".encode(),
)

_ID = b"v1_M2-K7-unique_h25_s0_ood-10_told-0"

COMPLETIONS = (
    b"".join(b'{"id": "%s_%d", "completion": "Answer: [%d 2]"}\n' % (_ID, n, n) for n in range(5)),
    b'{"id": "%s_centred_9", "completion": null, "usage": {"tokens": [1]}}\r\n\n' % _ID,
    b'{"id": "v1_M12-K256-unpermuted_h05_s9_test-16777216_untold-64_4", "completion": "\\ud800"}',
)


def run_reply(data: bytes, folder: Path) -> str:
    from sraven.text import parse, render_answer
    from sraven.text.replies import parse_letter

    reply = data.decode(errors="surrogateescape")
    panel, letter = parse(reply, 4, 8), parse_letter(reply, 8)
    last = reply.rstrip(" \t\r\n").split("\n")[-1]
    if panel is not None:
        plain = "".join(last.replace("*", "").split()).replace("[", "[ ").replace("]", " ]")
        symbols = render_answer(panel).removeprefix("Answer: ")
        if letter is not None or len(panel) != 4 or not set(panel) <= set(range(8)):
            raise FindingError(f"reads {panel} from {reply!a}")
        if plain.replace(" ", "") != f"Answer:{symbols.replace(' ', '')}":
            raise FindingError(f"reads {panel} from the last line {last!a}")
        return "a panel"
    if letter is not None and last.replace("*", "").strip(" \t")[-1] != "ABCDEFGH"[letter]:
        raise FindingError(f"reads choice {letter} from the last line {last!a}")
    return "a letter" if letter is not None else "nothing"


def completion_seeds() -> list[bytes]:
    from sraven.text.ids import find_question

    find_question(f"{_ID.decode()}_0")  # which loads a kernel
    return list(COMPLETIONS)


def run_completions(data: bytes, folder: Path) -> str:
    from sraven.text.completions import read_completions
    from sraven.text.ids import find_question

    path = folder / "completions.jsonl"
    path.write_bytes(data)
    lines, message = refused(lambda: list(read_completions(path)))
    if message:
        return message.replace(str(path), "file")
    kinds = set()
    for line in lines:
        found, message = refused(find_question, line.question)
        if found and found[0].id_of(found[1]) != line.question:
            raise FindingError(f"takes {line.question!a} for another question")
        kinds.add(message or "a question")
    return " ".join(sorted(kinds)) or "no lines"
