"""Replies are read strictly, as an oracle in plain Python reads them, and leniently, as a person would."""

import re

import pytest
from hypothesis import example, given, strategies as st

from helpers.refusals import assert_refused
from sraven.text import parse
from sraven.text.replies import NO_MARK, NO_REPLY, NOTHING, OTHER, SEVERAL, TAKEN_BACK, read_panel

PANEL = (3, 6, 2, 0)


def read_plainly(reply, M, K):
    """Read the last line without a pattern: cut it up and look at each word."""
    while reply and reply[-1] in " \t\r\n":
        reply = reply[:-1]
    line = reply.split("\n")[-1]
    while line and line[0] in " \t":
        line = line[1:]
    for before, middle, after in (("**Answer:", "", "**"), ("**Answer:", "**", ""), ("Answer:", "", "")):
        if line.startswith(before + middle) and line.endswith(after):
            inside = line[len(before + middle) : len(line) - len(after)].strip(" ")
            words = inside[1:-1].split(" ")
            numbers = [word for word in words if word]
            known = {str(symbol): symbol for symbol in range(K)}
            if inside[:1] == "[" and inside[-1:] == "]" and len(inside) > 2 and set(numbers) <= set(known):
                return tuple(known[word] for word in numbers) if len(numbers) == M else None
    return None


@pytest.mark.parametrize(
    "reply",
    [
        *("Answer: [3 6 2 0]", "Answer: [3 6 2 0]\n", "Answer:[ 3  6 2 0 ] \t\r\n\n"),
        *("  \tAnswer: [3 6 2 0]", "**Answer: [3 6 2 0]**", "**Answer:** [3 6 2 0]"),
        *("Row 3 adds.\r\nAnswer: [3 6 2 0]\r\n", "Answer: [0 0 0 0]\nNo, wait.\nAnswer: [3 6 2 0]"),
    ],
)
def test_these_answer(reply):
    assert parse(reply, 4, 8) == PANEL == read_plainly(reply, 4, 8)


@pytest.mark.parametrize(
    "reply",
    [
        *("", "Answer:", "Answer: 3 6 2 0", "Answer: [3, 6, 2, 0]", "Answer: [3 6 2 -0]"),
        *("Answer: [3 6 2 00]", "answer: [3 6 2 0]", "Answer: [3 6 2 0]\nI hope that this helps."),
        *("Answer: [٣ ٦ ٢ ٠]", "Answer: [3 6 2 0]\u00a0", "\u202eAnswer: [3 6 2 0]"),
        *("x\u2028Answer: [3 6 2 0]", "Answer: [" + "9" * 10_000 + " 6 2 0]", None, b"Answer: [3 6 2 0]"),
    ],
)
def test_these_do_not(reply):
    assert parse(reply, 4, 8) is None


pieces = st.sampled_from(
    [
        *"0123456789[]* \t\r\n",
        *("Answer:", "Answer: [", "**", "\n", "**Answer:", "] ", "٣", "\u2028", "10", "07"),
    ]
)
replies = st.lists(pieces, max_size=24).map("".join) | st.text(st.characters(codec=None), max_size=60)


@given(replies, st.integers(1, 4), st.integers(3, 12))
@example("Answer: [1 2]", 2, 3)
def test_any_text_is_read_as_the_oracle_reads_it(reply, M, K):
    assert parse(reply, M, K) == read_plainly(reply, M, K)


@given(st.lists(st.integers(0, 7), min_size=4, max_size=4), st.data())
def test_an_answer_that_is_changed_is_never_the_same_but_for_blanks_and_stars(panel, data):
    reply = f"Answer: {str(panel).replace(',', '')}"
    at = data.draw(st.integers(0, len(reply)))
    put = data.draw(st.characters(codec=None))
    changed = reply[:at] + put + reply[at + data.draw(st.booleans()) :]
    found = parse(changed, 4, 8)
    assert found == read_plainly(changed, 4, 8)
    if found == tuple(panel) and changed != reply:
        assert put in " \t\r\n" or changed == reply


@pytest.mark.parametrize(
    "piece", [" ", "Answer: [", "Answer:\n", "0 ", "*", "\n", "**Answer:**", "Answer: [0 "]
)
def test_long_replies_take_no_longer_than_they_are(piece):
    # What took the square of their length would take hours.
    reply = piece * 100_000
    for whole in (reply, f"Answer: [{reply}", f"Answer: [0{reply}]", f"{reply}x"):
        assert parse(whole, 4, 8) is None


# The lenient reading: as a person would


CLEAR = [
    # words, capitals, brackets, commas
    *("Answer: [3, 6, 2, 0]", "Answer: [[3 6 2 0]]", "Answer: 3, 6, 2, 0.", "answer: [3 6 2 0]"),
    *("The final answer is: [3, 6, 2, 0]", "Columns differ. So the answer is [3 6 2 0]."),
    *("Therefore, the answer is **[3 6 2 0]**.", "Answer: the missing panel is [3 6 2 0]"),
    # what stands before and behind
    "Answer: [3 6 2 0]\n\nLet me know if you want an explanation!",
    "Row 3: [1 2 3 4] and [5 5 5 5].\nAnswer: [3 6 2 0]\nAnswer: [3, 6, 2, 0]",
    "<think>Answer: [1 1 1 1]</think>\nAnswer: [3, 6, 2, 0]",
    "[THINK]Answer: [1 1 1 1][/THINK]Answer: 3 6 2 0",
    "<|channel|>analysis<|message|>Answer: [1 1 1 1]<|end|><|channel|>final<|message|>Answer: [3, 6, 2, 0]",
    "Answer: [0 0 0 0]\nNo, wait.\nAnswer: [3, 6, 2, 0]",
    # Markdown, HTML, JSON, LaTeX
    *("**Answer**: [3 6 2 0]", "- Answer: [3, 6, 2, 0]", "## Final Answer\n\n**[3 6 2 0]**"),
    *("```\nAnswer: [3 6 2 0]\n```", "Answer:\n```\n[3 6 2 0]\n```", "The answer is:\n\n[3 6 2 0]"),
    *("Answer:<br>[3 6 2 0]", "<answer>3 6 2 0</answer>", "<answer>Answer: [3 6 2 0]</answer>"),
    *('```json\n{"answer": [3, 6, 2, 0]}\n```', '{"final_answer": [3, 6, 2, 0], "confidence": 0.9}'),
    *(r"\[ \boxed{[3\ 6\ 2\ 0]} \]", r"\[\boxed{\begin{bmatrix}3 & 6 & 2 & 0\end{bmatrix}}\]"),
    *(r"\boxed{\text{Answer: } [3 6 2 0]}", r"Answer: $[3\;6\;2\;0]$", r"Answer: \left[3, 6, 2, 0\right]"),
    # characters, other languages
    *("Answer:\u00a0[3\u00a06\u00a02\u00a00]", "Answer: [３ ６ ２ ０]", "Answer：［3 6 2 0］"),
    *("Antwort: [3 6 2 0]", "**最终答案：** [3, 6, 2, 0]。", "Ответ: [3 6 2 0]", "정답: [3 6 2 0]"),
    *("Réponse : [3 6 2 0]", "La suma es 3.\n\nRespuesta final: [3, 6, 2, 0]", "答え：[3 6 2 0]"),
    # what affirms it
    *("Answer: [3 6 2 0], I think.", "Answer: [3 6 2 0] ✅", "I was wrong above. Answer: [3, 6, 2, 0]."),
    "The answer is [3 6 2 0] because the third row adds.",
    *("The answer to this puzzle is [3 6 2 0].", "So the final answer to the question: [3, 6, 2, 0]"),
    "Answer: [3, 6, 2, 0]\n\nExplanation: the first feature is not constant; it adds modulo 8.",
    *("Answer: [3 6 2 0] (verified)", "Answer: [3 6 2 0] (checked against all rows).", "Answer: 3 6 2 0 ✓"),
    *("Answer: [3 6 2 0] ✅ verified", "Answer: [3, 6, 2, 0] (the only one)", "Answer: [3 6 2 0] (final)"),
    # what stands before it, brackets, numbers, no end
    *("✅ Answer: [3, 6, 2, 0]", "✔️ **Final answer:** [3, 6, 2, 0].", "👉 The answer is [3 6 2 0]."),
    *("Answer: 【3 6 2 0】", "Answer：【3，6，2，0】", "【最终答案】：[3, 6, 2, 0]", "Answer: 〔3 6 2 0〕"),
    *("Answer: [3.0, 6.0, 2.0, 0.0]", '{"answer": [3.0, 6.0, 2.0, 0.0]}', "Answer: [03 06 02 00]"),
    *("Answer: [3, 6, 2, 0", "**Answer: [3 6 2 0**", '{"answer": [3, 6, 2, 0', "Answer → [3, 6, 2, 0]"),
    # without a mark, as the last word
    *("[?] = [3 6 2 0]", "**[?] = [3, 6, 2, 0]**", "[1 1 1 1] [2 2 2 2] [?]\n\nSo $[?] = [3, 6, 2, 0]$."),
    *("[?] is [3 6 2 0].", "[?]: [3 6 2 0]", "The missing panel is [3 6 2 0].", "Missing panel: [3 6 2 0]"),
    "Row 3 adds modulo 8. Therefore, the missing panel is **[3, 6, 2, 0]**.",
    "Hence the missing panel is:\n\n[3 6 2 0] ✅",
]

UNCLEAR = {
    NO_MARK: (
        *("", "[3 6 2 0]", "The answer isn't [3 6 2 0].", "Is the answer [3 6 2 0]? No."),
        *("The answer to this puzzle is not [3 6 2 0].", "The answer to the second puzzle is [3 6 2 0]."),
        *("Falsche Antwort: [3 6 2 0]", "错误答案：[3 6 2 0]", "Wrong answer: [3 6 2 0]"),
        *("~~Answer: [3 6 2 0]~~", "<!-- Answer: [3 6 2 0] -->", "It is no <s>Answer: [3 6 2 0]</s>"),
        *("[THINK]Answer: [3 6 2 0]", "<|channel|>analysis<|message|>Answer: [3 6 2 0], or so"),
        *(r"\xcancel{\boxed{[3 6 2 0]}}", "If so, the answer would be [3 6 2 0]."),
        "<think>Hm.</think>Well<think>Answer: [3 6 2 0]",
        *("❌ Answer: [3 6 2 0]", "❌️ Answer: [3 6 2 0]", "🚫 Answer: [3 6 2 0]", "[?] ≠ [3 6 2 0]"),
        *("[?] = not [3 6 2 0]", "[?] isn't [3 6 2 0].", "If [?] = [3 6 2 0], it fails."),
        "Try [?] = [3 6 2 0]",
        *("The missing panel isn't [3 6 2 0].", "Is the missing panel [3 6 2 0]?", "Panel 8 is [3 6 2 0]."),
        *("If the missing panel is [3 6 2 0], it fails.", "I doubt that the missing panel is [3 6 2 0]."),
        *("The missing panel might be [3 6 2 0].", "Wrong: the missing panel is [3 6 2 0]."),
        *("Without permutation, the missing panel is [3 6 2 0].", "The last panel of row 2 is [3 6 2 0]."),
        *("~~[?] = [3 6 2 0]~~", "<think>[?] = [3 6 2 0]", "'The missing panel is [3 6 2 0].' Wrong."),
    ),
    NOTHING: (
        *("Answer:", "Answer: not [3 6 2 0]", "Answer: I can't say. Perhaps [3 6 2 0]?"),
        *("Answer: [3 6 2 0]\nHm.\nAnswer: [3 6 2", "Answer: 3 6 2 0 or 1 2 3 4", "Answer: [-3 6 2 0]"),
        *("Answer: [3.5 6 2 0]", "Answer: [3.05 6 2 0]", "Answer: [٣ ٦ ٢ ٠]", "Answer: 3620"),
        *("Answer: [3 6 2 0,", "Answer: [3 6 2 0 or", "Answer: [3 6 2 0 + 1", "Answer: [3 6 2 0..."),
        *("Answer: not [3 6 2 0", "Answer: [3 6 2 0\nor so", "Answer: [3.0.1 6 2 0]"),
        "✅ Answer: not [3 6 2 0]",
    ),
    TAKEN_BACK: (
        *("Answer: [3 6 2 0] is wrong.", "Answer: [3 6 2 0]\n\nWait, that's incorrect."),
        *("Answer: [3 6 2 0]!?", "The missing panel is [3 6 2 0]!?"),
        *("Answer: [3 6 2 0]?", "Answer: [3 6 2 0] ❌", "Answer: [3 6 2 0] (shifted)"),
        *("Answer: [3 6 2 0] + 1 mod 8", "Answer: [3 6 2 0] reversed", "The answer is [3 6 2 0] plus one."),
        *("Answer: [3 6 2 0]. That isn't right.", "Answer: [3, 6, 2, 0]. 不对", "Answer: [3 6 2 0] 是错的"),
        *("Answer: [3 6 2 0].\nThen add 1 to each number.", "Answer: [3 6 2 0] because it is not valid."),
        *("Answer: [3 6 2 0]... not sure", "e.g. Answer: [3 6 2 0]", r"$\boxed{[3 6 2 0]} + 1$"),
        *("A common mistake: the answer is [3 6 2 0].", "Suppose we say: the answer is [3 6 2 0]."),
        *("One might say: Answer: [3, 6, 2, 0]", "Antwort: [3 6 2 0] ist falsch"),
        "Answer: [3 6 2 0]\nSorry, no.",
        *("Answer: [3 6 2 0] (unverified)", "Answer: [3 6 2 0] (not verified)", "✅ Answer: [3 6 2 0]\nNo."),
        *("Answer: [3 6 2 0] (verified: no)", "Answer: [3 6 2 0] (verified?)", "Answer: 【3 6 2 0】 ✗"),
        *("Answer: [3 6 2 0] (verified in all rows but one)", "Answer: [3 6 2 0] (mod 7)"),
        *("Answer: [3.0, 6.0, 2.0, 0.0] / 2", "Answer: [3 6 2 0] (verified). Wait, that's wrong."),
        *("[?] = [3 6 2 0]?", "[?] = [3 6 2 0] is wrong.", "[?] = [3 6 2 0] + 1", "[?] = [3 6 2 0] reversed"),
        *("[?] = [3 6 2 0]\nThat fails in row 2.", "[?] = [3 6 2 0]\nBut then feature 2 decreases."),
        *("A wrong answer would be:\n[?] = [3 6 2 0]", "In the order of column 1:\n\n[?] = [3 6 2 0]"),
        *("The missing panel is [3 6 2 0]. No, wait.", "The missing panel is [3 6 2 0] plus one."),
        "Suppose that columns keep their order. The missing panel is [3 6 2 0].",
        "The missing panel is [3 6 2 0].\n\nBut then the rule of feature 3 differs.",
    ),
    OTHER: ("Answer: [3 6 2]", "Answer: [3 6 2 8]"),
    SEVERAL: (
        *("Answer: [3 6 2 0] or [1 2 3 4]", "Answer: [3 6 2 0] is wrong, it should be [1 2 3 4]."),
        *("Answer: 【3 6 2 0】 or 【1 2 3 4】", "[?] = [3 6 2 0] or [1 2 3 4]"),
        "Candidates:\n1. [?] = [3 6 2 0]\n2. [?] = [1 2 3 4]",
        "Answer: [3.0, 6.0, 2.0, 0.0]\n[1.0, 2.0, 3.0, 4.0]",
        *("Answer: 3 6 2 0.\nActually it should be 1 2 3 4.", r"\boxed{[3 6 2 0]} or \boxed{[1 2 3 4]}"),
    ),
    NO_REPLY: (None, b"Answer: [3 6 2 0]"),
}


@pytest.mark.parametrize("reply", CLEAR)
def test_common_forms_are_understood(reply):
    assert parse(reply, 4, 8, reading="lenient") == PANEL


@pytest.mark.parametrize(
    ("reply", "reason"), [(reply, reason) for reason, replies in UNCLEAR.items() for reply in replies]
)
def test_nothing_is_guessed(reply, reason):
    assert parse(reply, 4, 8, reading="lenient") is None
    assert read_panel(reply, 4, 8).reason == reason


@pytest.mark.parametrize(
    ("reply", "K", "panel"),
    [
        ("Answer: [3 1", 10, (3, 1)),
        ("Answer: [3 1", 11, None),  # of 10
        ("Answer: [3 1\n", 11, (3, 1)),
        ("Answer: [3 0", 11, (3, 0)),
        ("Answer: [3 10", 11, (3, 10)),
        ("Answer: [3 10", 200, None),
        ("Answer: [3 20", 200, (3, 20)),
    ],
)
def test_a_list_without_an_end_is_read_if_its_last_number_has_one(reply, K, panel):
    assert parse(reply, 2, K, reading="lenient") == panel


panels = st.lists(st.integers(0, 11), min_size=1, max_size=6).map(tuple)
marks = st.sampled_from(
    ["Answer: ", "**Answer:** ", "Final answer:\n", "The answer is ", r"\boxed{", "# Answer\n\n", "<answer>"]
)
separators = st.sampled_from([" ", ", ", ",", "  ", "\t", "\u00a0", " ; "])
brackets = st.sampled_from(["[]", "()", "{}", ("**[", "]**"), ("`[", "]`"), ("$[", "]$"), (r"\[", r"\]")])
thoughts = st.text("aeinst .,:[]0123456789\n", max_size=60).map(lambda text: f"{text}\n")
endings = st.sampled_from(
    ["", ".", "\n", "\n\nI hope that this helps!", "<|im_end|>", "\n```", "}", "</answer>"]
)


def written(panel, mark, separator, bracket, ending):
    return f"{mark}{bracket[0]}{separator.join(map(str, panel))}{bracket[1]}{ending}"


@given(thoughts, panels, marks, separators, brackets, endings)
def test_who_names_one_list_clearly_is_understood(thought, panel, mark, separator, bracket, ending):
    reply = thought + written(panel, mark, separator, bracket, ending)
    assert parse(reply, len(panel), 12, reading="lenient") == panel


@given(panels, panels, marks, separators, brackets, st.sampled_from([" or ", "\nNo: ", "; else ", "\n"]))
def test_who_names_two_lists_behind_a_mark_answers_neither(panel, other, mark, separator, bracket, between):
    first = written(panel, mark, separator, bracket, between)
    found = parse(first + written(other, "", separator, bracket, ""), len(panel), 12, reading="lenient")
    says_more = between == "\n" and (len(other) != len(panel) or other == panel)
    assert found == (panel if says_more else None)


fragments = st.sampled_from(
    [
        *"0123456789[](){}*`$,.;:-_ \t\n",
        *("Answer:", "answer is", r"\boxed{", "not ", "10", "[3 6]", "[1, 2]", "\u3000", "03", "3.0", "【"),
    ]
)


@given(st.lists(fragments, max_size=30).map("".join), st.integers(1, 3), st.integers(3, 12))
def test_what_is_read_stands_there_and_the_strict_reading_goes_first(reply, M, K):
    strict, lenient = (parse(reply, M, K, reading) for reading in ("strict", "lenient"))
    assert strict is None or strict == lenient
    if lenient is not None:
        assert re.search(r"(?:\.0+)?[^0-9.]+0*".join(map(str, lenient)), reply)
        assert "answer" in reply.lower() or "boxed" in reply


@pytest.mark.parametrize(
    "piece",
    [
        *("[", "*", "answer ", "Answer: ", " ", ", so", "1 ", r"\boxed{", "<b ", "_", "the "),
        *("[?] = ", "[?] = [0 ", "the missing panel is ", "0.0 "),
    ],
)
def test_long_replies_take_their_time_and_no_more(piece):
    """What takes the square of the length would take a hundred million steps."""
    for before in ("Answer: ", "[?] = ", ""):
        assert read_panel(before + piece * 10_000, 4, 8).answer is None


def test_another_reading_is_refused():
    assert_refused("'strict', 'lenient'", parse, "", 4, 8, reading="kind")
