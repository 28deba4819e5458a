r"""Replies parsed: their last line, read strictly; or, where that says nothing, as a person would read them.

The lenient reading minds no markup, commas and words around the answer. A reply is first made plain:
full-width characters and odd spaces become ASCII; Markdown, LaTeX, thoughts, comments, what is struck out and
the tokens that end a turn go. Then its last *mark* decides: ``Answer:``, ``the answer is``, a heading or
field called answer, ``\boxed{``, or ``Answer:`` in some other languages. Where there is none, ``[?] =`` and
``the missing panel is`` are marks, too, if what they say ends the reply. The answer is what stands right
behind it. No wrong list is ever read as the answer. So there is none if nothing stands behind the mark (the
reply was cut off), if another list follows, or if words may take it back or change it: in its own sentence
nothing may follow but what is known to affirm it, in later ones nothing that retracts.
"""

import re
from itertools import chain
from typing import Any, NamedTuple
from unicodedata import category

from sraven.core.arguments import check_choice
from sraven.text.forms import NUMBERS

READINGS = ("strict", "lenient")
"""How replies are read: rewards and version 1 of the text board read strictly."""

_NUMBER = "(?:0|[1-9][0-9]{0,2})"
_LIST = rf"\[ *({_NUMBER}(?: +{_NUMBER})*) *\]"

_BLANK = " \t\r\n"


_PANEL = re.compile(rf"[ \t]*(?:Answer: *{_LIST}|\*\*Answer: *{_LIST}\*\*|\*\*Answer:\*\* *{_LIST})")
"""What a last line has to look like, bold or not."""


def _read(reply: object) -> str | None:
    if not isinstance(reply, str):
        return None
    whole = reply.rstrip(_BLANK)
    found = _PANEL.fullmatch(whole, whole.rfind("\n") + 1)
    return next((group for group in found.groups() if group is not None), None) if found else None


def parse(reply: object, M: int, K: int, reading: str = "strict") -> tuple[int, ...] | None:
    """Return the panel that a reply answers, or None.

    Read strictly, a reply ends in a line ``Answer: [3 6 2 0]``: exactly M integers from 0 to K - 1 in ASCII
    digits, without sign or leading zero, with one space or more between them. Behind it nothing may stand but
    spaces, tabs and line ends, before it on its line nothing but spaces and tabs; the lines above are never
    read. The line, or ``Answer:`` alone, may be bold as in Markdown: ``**Answer: [3 6 2 0]**``, ``**Answer:**
    [3 6 2 0]``. Lines end in a line feed, with or without a carriage return before it.

    Read leniently, a reply that doesn't end so answers what it names behind its last ``Answer:`` or in its
    last LaTeX box, with commas, in Markdown, on the next line, as `read_panel` does; several answers
    that differ are none. What the strict reading finds, the lenient one finds too.

    It takes time in proportion to the length of the reply.

    Args:
        reply: a text; anything else, such as None for a request that failed, answers nothing.
        M: features of a panel.
        K: number of symbols.
        reading: ``strict`` or ``lenient``.

    Raises:
        ConfigurationError: for another reading.
    """
    check_choice("reading", reading, READINGS)
    panel = tuple(map(int, (_read(reply) or "").split()))
    if len(panel) == M and max(panel) < K:
        return panel
    return read_panel(reply, M, K).answer if reading == "lenient" else None


# The lenient reading

_TO_ASCII: dict[int, int | None] = {0xFF00 + code: 0x20 + code for code in range(1, 0x5F)}  # full-width forms
_TO_ASCII |= {code: 0x20 for code in range(0x80, 0x3001) if category(chr(code)) == "Zs"}
_TO_ASCII |= dict.fromkeys((0x200B, 0x2060, 0xFE0F, 0xFEFF))  # of no width
_TO_ASCII |= {ord(bracket): ord("[]"[at % 2]) for at, bracket in enumerate("【】〔〕⟦⟧")}

_THOUGHTS = "(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
_THOUGHT_STARTS, _THOUGHT_ENDS = (
    re.compile(rf"<{end}{_THOUGHTS}>|\[{end}think\]|◁{end}think▷|<\|channel\|>{channel}", re.IGNORECASE)
    for end, channel in (("", "(?:analysis|commentary)"), ("/", "final"))
)
"""What a model thinks isn't its answer, also where it never came to an end."""

_REWRITES = [
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"<!--(?s:.*?)(?:-->|\Z)|~~[^~]{1,2000}~~|<(del|strike)>[^<]{0,2000}</\1>", "\n"),
        (r"(?<=[^\n])<s>[^<]{0,2000}</s>|\\(?:[bx]?cancel|sout|st)\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", "\n"),
        (r"<\|[\w ]{1,40}\|>|</?s>|<(?:eos|end_of_turn)>|<(?:br|p|div)\b[^<>]{0,99}>", "\n"),
        (r"</?(?:b|i|em|strong|code|pre|span|p|div)\b[^<>]{0,99}>", ""),
        (r"\\\\|&", ","),
        (r"\\(?:begin|end)\{[a-z]{0,2}(?:matrix|array)\}(?:\{[lcr| ]{0,99}\})?", " "),
        (r"\\(?:text\w{0,6}|math\w{0,6}|left|right|quad|qquad|displaystyle)\b|\\[,;:! ]", " "),
        # A star or an underscore between two digits isn't markup, and joins none.
        (r"(?<![\w*`$~])[*`$~]{1,9}|[*`$~]{1,9}(?![\w*`$~])", ""),
        (r"(?<![^\W_])_{1,9}|_{1,9}(?![^\W_])", ""),
        (r"\\(?=[\[\](){}])", ""),
    )
]

_WHOLE = r"(?:0|[1-9][0-9]{0,2})(?![\w%]|\.[0-9])"
_COMMA = r"(?:[ \t]*[,;]\s*|[ \t]+)"
_NUMBERS = rf"({_WHOLE}(?:{_COMMA}{_WHOLE})*)"
_IN_BRACKETS = r"[0-9]{1,3}(?:\.0{1,3})?(?![\w%]|\.[0-9])"  # 03 and 3.0 are 3 there
_OPEN_LIST = rf"[\[({{]{{1,3}}\s*({_IN_BRACKETS}(?:(?:\s*[,;]\s*|\s+){_IN_BRACKETS})*)"
_LISTED, _UNCLOSED = re.compile(rf"{_OPEN_LIST}\s*[\])}}]"), re.compile(rf"{_OPEN_LIST}(\s*)\Z")
_BARE = re.compile(rf"{_NUMBERS}[ \t]*(?=[.}}<\"\n✓✔✅☑]|\Z)")
_RUN = re.compile(rf"(?<![\w.+-]){_NUMBERS}")

_SPELT_NUMBER = "|".join(NUMBERS)
_SPELT = re.compile(rf"[\[(]\s*(?:\b(?:{_SPELT_NUMBER}|[0-9]+)\b[\s,;]*)+[\])]", re.IGNORECASE)

_OPENING = r"(?:so|thus|hence|therefore|and|the|my|our|final|correct|right)"
_ABROAD = (
    r"(?:endgültige )?antwort|réponse(?: finale)?|reponse|respuesta(?: final)?|risposta(?: finale)?"
    r"|resposta(?: final)?|(?:итоговый |окончательный )?ответ"
    r"|(?:最终|最後|最后|正确|最終)?的?(?:答案|回答|答え)|정답|답"
)
"""The word in German, French, Spanish, Italian, Portuguese, Russian, Chinese, Japanese and Korean."""

_TO_WHAT = (
    r"(?:[ \t]+(?:to|of|for)[ \t]+(?:the|this)[ \t]+(?:puzzle|question|problem)(?=[ \t]+is\b|[ \t]*:))?"
)

_MARK = re.compile(
    rf"(?:^|(?<=[.!?:>#\"'{{(\[<。！？✅✔☑✓👉🎯•-]))[ \t]*(?:(?:{_ABROAD})\]?[ \t]*(?P<abroad>:)"
    rf"|(?:{_OPENING}[ \t,_-]+){{0,5}}(?:final)?answer\]?{_TO_WHAT}"
    r"(?:[ \t]+is\b|[ \t]*\n)?[\"' \t]*(?P<strong>[:=>])?)"
    r"|(?P<box>\\boxed[ \t]*\{)",
    re.IGNORECASE | re.MULTILINE,
)
"""A strong mark, with a colon or a box, decides even with no answer behind it; any other is then no mark."""

_LAST_MARK = re.compile(
    rf"(?:^|(?<=[.!?]))[ \t]*(?:{_OPENING}[ \t,]+){{0,5}}"
    r"(?:\[\?\]|(?:missing|ninth) panel)(?=[ \t]*(?:[:=→]|is\b))",
    re.IGNORECASE | re.MULTILINE,
)
"""What says the answer as the last thing in a reply that has no other mark; earlier it may be a thought."""

_BEHIND = re.compile(
    r"(?:[\s:=>→\"'#}]|-(?=\s)|\b(?:is|the|missing|ninth|last|final|correct|panel|list|letter|choice|option)\b)*",
    re.IGNORECASE,
)
"""What may stand between a mark and its answer."""

_RETRACTS = re.compile(
    r"\b(?:wrong|incorrect|mistaken?|error|invalid|false|fails?|wait|hmm+|oops|actually|no|nope|sorry|apologi[sz]e"
    r"|correction|scratch|disregard|ignore|retract|never ?mind|instead|rather|should (?:be|have)|must be"
    r"|second thoughts?|re-?(?:check|consider|think|do|compute|verif)\w*|double-check|revers\w+|swap\w*"
    r"|shift\w*|rotat\w+|permut\w+|reorder\w*|sort\w*|flip\w*|invert\w*|then (?:add|subtract|take|apply)"
    r"|(?:each|every|all) (?:number|digit|entr|element|value)\w*|nein|falsch|нет"
    r"|contradict\w*|strike|exchang\w*|transpos\w*|mirror\w*|unsure|uncertain|unclear)\b"
    r"|(?:\bnot|n't|\bnever)\b[^\n.!?;,]{0,40}\b(?:it|right|correct|valid|fit|work|answer|final|true|sure|certain)\b"
    r"|不对|错|❌|✗|✘",
    re.IGNORECASE,
)
"""Words behind an answer that may take it back or change it."""

_UNASSERTED = re.compile(
    r"\b(?:wrong|incorrect|mistaken?|false|suppos\w*|assum\w*|hypothe\w*|if|not|never|tempting|naive|trap|example|might|may|could)\b"
    r"|n't\b",
    re.IGNORECASE,
)
"""Words before a mark, in its sentence, with which it doesn't say what the answer is."""

_REASON = (
    r"(?:because|since|based on|according to|which (?:fits|matches|completes|follows|satisfies))\b"
    r"[^\n.!?]{0,300}"
)
_AFFIRMS = re.compile(
    r"(?:(?:I|we)(?:'m| am| are|'d| would)? (?:think|believe|say|guess|suppose|(?:quite |very |fairly )?"
    r"(?:sure|confident|certain))"
    r"|as (?:requested|required|asked|computed|derived|found|shown|explained|described)(?: above)?"
    r"|(?:is|for|as) (?:the|my) (?:(?:missing|last|ninth|final|correct|right) )*(?:panel|answer|list)"
    r"|(?:it is |it's )?the only (?:one|panel|answer)(?: that fits)?"
    r"|(?:verified|checked|confirmed)(?: (?:against|for|in) (?:all|every) (?:row|column|feature|rule)s?)?"
    r"|final(?: answer)?"
    rf"|is (?:correct|right)|{_REASON})?",
    re.IGNORECASE,
)
"""What may stand behind an answer, in its sentence."""

_CLOSERS = re.compile(r"(?:[ \t\])}>\"'|,;:✓✔✅☑👍🎉]|</?\w{1,20}>)*")
_SENTENCE = re.compile(r"([^\n.!?<。！？]*)([.!]*[?？])?")
_NEXT_FIELD = re.compile(r'[ \t"\'\]]*,\s*["\'][\w ]{1,60}["\']\s*:')
"""Of an object in JSON, behind the field that has the answer."""

NO_REPLY = "no reply, the request failed: ask again, by the same line"
CUT_OFF = "cut off: let the model write more tokens, by a greater --max-tokens into a new file"
REFUSED = "refused: the model won't answer; read what it says, and try a system prompt, into a new file"
NO_MARK = "no answer is marked, and prompts ask for `Answer: […]`: look at how replies end"
NOTHING = (
    "the last mark has no answer behind it: are replies cut off? then a greater --max-tokens, into a new file"
)
TAKEN_BACK = "what stands beside the answer may take it back or change it"
OTHER = "what is marked is no panel of the puzzle: another length, or numbers that it doesn't have"
SEVERAL = "several answers that differ"


_SENTENCE_LENGTH = 500
"""Letters before a mark that are looked at."""


class Reading(NamedTuple):
    """What was read: the panel; or None, and why."""

    answer: tuple[int, ...] | None
    reason: str = ""


def in_thought(reply: str) -> bool:
    """Return whether a reply ends in a thought that has no end."""
    return bool(_THOUGHT_STARTS.search(_THOUGHT_ENDS.split(reply)[-1]))


def _make_plain(reply: str) -> str:
    text = reply if reply.isascii() else reply.translate(_TO_ASCII)
    text = _THOUGHT_STARTS.split(_THOUGHT_ENDS.split(text)[-1])[0]
    for pattern, plain in _REWRITES:
        text = pattern.sub(plain, text)
    return text


def _is_asserted(text: str, start: int, end: int) -> bool:
    """Return whether nothing beside an answer, from its mark to its end, denies or changes it."""
    if text[max(0, start - 9) : start].rstrip().endswith("e.g."):
        return False
    before = re.split(r"[.!?\n\"]", text[max(0, start - _SENTENCE_LENGTH) : start])[-1]
    if _UNASSERTED.search(before):
        return False
    if field := _NEXT_FIELD.match(text, end):
        rest = field.end()
    else:
        closed = _CLOSERS.match(text, end)
        sentence = _SENTENCE.match(text, closed.end() if closed else end)
        assert sentence, "it may be empty"
        said, rest = sentence[1].lstrip("(").rstrip(" \t\"'*)]},;:|✓✔✅☑👍🎉"), sentence.end()
        if sentence[2] or not _AFFIRMS.fullmatch(said) or _RETRACTS.search(said):
            return False
    return not _RETRACTS.search(text, rest)


def _is_last(text: str, start: int, end: int) -> bool:
    """Return whether an asserted answer ends a reply, in a paragraph that supposes and announces nothing."""
    before = text[max(0, start - _SENTENCE_LENGTH) : start]
    is_announced = before.rstrip().endswith((":", ","))
    supposes = _UNASSERTED.search(before.rpartition("\n\n")[2])
    return not (is_announced or supposes or re.search(r"[.!\n]\s*\w", text[end:]))


def unspell(reply: Any) -> Any:
    """Return a reply with digits for the words of numbers, in lists of numbers within brackets alone."""

    def write(listed: re.Match[str]) -> str:
        return re.sub("[A-Za-z]+", lambda word: str(NUMBERS.index(word[0].lower())), listed[0])

    return _SPELT.sub(write, reply) if isinstance(reply, str) else reply


def read_panel(reply: object, M: int, K: int) -> Reading:
    """Return the panel that a reply names, leniently read: a tuple of M integers below K."""
    if not isinstance(reply, str):
        return Reading(None, NO_REPLY)

    def value(found: re.Match[str]) -> tuple[int, ...] | None:
        panel = tuple(map(int, re.findall(r"([0-9]+)(?:\.0+)?", found[1])))
        return panel if len(panel) == M and max(panel) < K else None

    text = _make_plain(reply)

    def behind(mark: re.Match[str]) -> int:
        between = _BEHIND.match(text, mark.end())
        return between.end() if between else mark.end()

    def unclosed(at: int) -> re.Match[str] | None:
        """Match a whole panel that the reply ends in, the last number being no beginning of another one."""
        found = _UNCLOSED.match(text, at)
        panel = value(found) if found else None
        return found if found and panel and (found[2] or panel[-1] == 0 or panel[-1] * 10 >= K) else None

    marked: list[tuple[int, re.Match[str] | None]] = []
    for mark in _MARK.finditer(text):
        at = behind(mark)
        found = _LISTED.match(text, at) or _BARE.match(text, at) or unclosed(at)
        if found or mark["strong"] or mark["abroad"] or mark["box"]:
            marked.append((mark.start(), found))
    if is_unmarked := not marked:
        lists = ((mark.start(), _LISTED.match(text, behind(mark))) for mark in _LAST_MARK.finditer(text))
        marked += [each for each in lists if each[1]]
    if not marked:
        return Reading(None, NO_MARK)
    start, last = marked[-1]
    if last is None:
        return Reading(None, NOTHING)
    answer, end = value(last), last.end()
    if answer is None:
        return Reading(None, OTHER)
    # Of marks for want of others all count: they may be a list of candidates.
    before = [
        each for _, each in marked[:-1] if each and (is_unmarked or "\n" not in text[each.end() : start])
    ]
    others = chain(before, _LISTED.finditer(text, end), _RUN.finditer(text, end))
    if {*map(value, others)} - {None, answer}:
        return Reading(None, SEVERAL)
    if not _is_asserted(text, start, end) or (is_unmarked and not _is_last(text, start, end)):
        return Reading(None, TAKEN_BACK)
    return Reading(answer)
