"""What language models reply to the lite text board: scores by level beside floors, and what replies say.

    python tests/speed/language_models.py docs/results/language-models.json \
        "SmolLM2-135M-Instruct=smol-0.jsonl:3,smol-4.jsonl:9" "Gemma 3 270M=gemma-0.jsonl:4,gemma-4.jsonl:6" \
        lm-eval=harness.jsonl

Each file is what `sraven text ask` wrote, with the seconds of a core that the server took for a question; a
file without them has what another harness got for questions of the first file, and is compared with it. The
floors are those that are filed, the composing network, and each position answered by itself. A level's
accuracy is held against guessing all numbers: exact binomial, two-sided, p corrected over the levels of a
file by Holm; intervals are exact ones of 95 %.
"""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
from record import recorded
from scipy.stats import binomtest

from sraven.certificates.nearest import each_by_itself
from sraven.text.completions import Usage, read_completions
from sraven.text.mixtures import mixture_of
from sraven.text.replies import CUT_OFF

BOARD = "sraven-text-lite-v2"
FILED = Path("docs/leaderboard/submissions") / BOARD
FLOORS = "uniform-random", "copy-last-panel", "majority-symbol", "softmax-tiny", "ideal-observer"


def numbers_of(reply):
    """Return the numbers of the first list in a reply, which may lack its end; None if it has none."""
    found = re.search(r"\[ *(\d+(?:[ ,]+\d+)*)", reply)
    return [int(each) for each in re.findall(r"\d+", found[1])] if found else None


def kind_of(reply, answer, context, examples, target, K):
    """Return what a reply says: the panel that it answers, or else its first list, beside the puzzle.

    Args:
        reply: the text.
        answer: the panel that the lenient reading finds; None if there is none.
        context: the eight panels.
        examples: answers of the solved examples.
        target: the right answer.
        K: number of symbols.
    """
    panel = numbers_of(reply) if answer is None else list(answer)
    if answer is None and len(re.findall(r"\[ *\d", reply)) > 1:
        return "goes on with panels"
    if panel is None:
        return "the form [d d …] itself" if re.search(r"\[ *d\b", reply) else "no list of numbers"
    if panel == target:
        return "the answer"
    for number, shown in reversed(list(enumerate(context, 1))):
        if panel == shown:
            return f"panel {number}"
    if panel in examples:
        return f"the answer of example {examples.index(panel) + 1}"
    if len(panel) > 1 and len(set(panel)) == 1:
        return "one number throughout"
    if len(panel) > 1 and panel == list(range(panel[0], panel[0] + len(panel))):
        return "counts up"
    if len(panel) != len(target):
        return "a list of another length"
    if panel == [(2 * last - before) % K for before, last in zip(context[6], context[7], strict=True)]:
        return "the last row, continued by its step"
    return "another panel"


def holm(p):
    """Return p-values corrected for all of them."""
    order = np.argsort(p)
    corrected = np.maximum.accumulate(np.array(p)[order] * np.arange(len(p), 0, -1)).clip(max=1)
    return corrected[np.argsort(order)].tolist()


def level_of(questions, replies):
    """Return what is said of the replies to questions of a level: completions by index."""
    indices, K = list(replies), questions.task.K
    texts = [each.text or "" for each in replies.values()]
    batch, grades = questions.take(indices), questions.grade_both(indices, texts)
    examples = questions.task.take("train", questions.shown(indices)).target if questions.shots else None
    answered = zip(texts, grades[1].panels.tolist(), grades[1].parsed.tolist(), strict=True)
    said = Counter(
        kind_of(
            text,
            panel if parsed else None,
            batch.context[row].tolist(),
            [] if examples is None else examples.reshape(len(texts), -1, questions.task.M)[row].tolist(),
            batch.target[row].tolist(),
            K,
        )
        for row, (text, panel, parsed) in enumerate(answered)
    )
    distinct = [len(np.unique(context, axis=0)) for context in batch.context]
    right, n = int(grades[1].target.sum()), len(texts)
    test = binomtest(right, n, questions.chance)
    return {
        "n": n,
        "right": right,
        "right_strictly": int(grades[0].target.sum()),
        "chance": questions.chance,
        "interval": [round(end, 6) for end in test.proportion_ci()],
        "p": float(test.pvalue),
        "unread": int((~grades[1].parsed).sum()),
        "unread_strictly": int((~grades[0].parsed).sum()),
        "cut_off": sum(each.fault == CUT_OFF for each in replies.values()),
        "a_panel_by_chance": float(np.mean(distinct)) * questions.chance,
        "said": dict(said.most_common()),
    }


def asked_of(path, seconds):
    """Return what a file of completions has, of each level and in all."""
    found, usage = {}, Usage()
    for completion in read_completions(Path(path)):
        questions, index = completion.find()
        if completion.text is not None:
            found.setdefault(questions, {})[index] = completion
            usage += completion.usage
    levels = {
        f"M{questions.task.M}-K{questions.task.K}": level_of(questions, dict(sorted(replies.items())))
        for questions, replies in sorted(found.items(), key=lambda each: (each[0].task.K, each[0].task.M))
    }
    for level, p in zip(levels.values(), holm([level["p"] for level in levels.values()]), strict=True):
        level["p_holm"] = p
    counted = ("n", "right", "right_strictly", "unread", "unread_strictly", "cut_off")
    total = {name: sum(level[name] for level in levels.values()) for name in counted}
    test = binomtest(total["right"], total["n"])
    total["interval"] = [round(end, 6) for end in test.proportion_ci()]
    total["said"] = dict(sum((Counter(level["said"]) for level in levels.values()), Counter()).most_common())
    [shots] = {questions.shots for questions in found}
    tokens = {"prompt_tokens": usage.input_tokens, "reply_tokens": usage.output_tokens}
    tokens["core_seconds_a_question"] = float(seconds)
    return {"shots": shots, **tokens, "total": total, "levels": levels}


def compared(path, other):
    """Return how many replies of another harness are right, and how many are those of a file."""
    first = {each.question: each.text for each in read_completions(Path(other))}
    found = list(read_completions(Path(path)))
    graded = [
        questions.grade([index], [each.text], reading="lenient")
        for each in found
        for questions, index in [each.find()]
    ]
    return {
        "n": len(found),
        "right": sum(int(each.target.sum()) for each in graded),
        "compared": sum(each.question in first for each in found),
        "same": sum(each.text == first.get(each.question) for each in found),
    }


def floors():
    """Return accuracies by level of what is filed, of the composing network, of each position by itself."""
    found = {}
    for name in FLOORS:
        [path] = FILED.glob(f"*-{name}/scores.json")
        metrics = json.loads(path.read_text())["splits"]["ladder"]["metrics"]
        found[name] = {
            key.removeprefix("accuracy."): value["mean"]
            for key, value in metrics.items()
            if key.startswith("accuracy.")
        }
    composing = json.loads(Path("docs/results/composing-words.json").read_text())["levels"]
    found["composing network"] = {level: each["right"] / each["n"] for level, each in composing.items()}
    found["each position by itself"] = {}
    for questions in mixture_of(BOARD, "told-0-shot").sets:
        task, batch = questions.task, questions.take(range(questions.count))
        right = each_by_itself(batch.context, batch.target, task.K, threads=1, **task.context_options).right
        found["each position by itself"][f"M{task.M}-K{task.K}"] = float(np.mean(right))
    return found


def replies(*models):
    """Return what all models reply: of each its name and files."""
    named = dict(each.split("=") for each in models)
    asked = {name: [file.split(":") for file in files.split(",")] for name, files in named.items()}
    first = next(iter(asked.values()))[0][0]
    found = {name: [asked_of(*file) for file in files] for name, files in asked.items() if len(files[0]) > 1}
    others = {name: compared(files[0][0], first) for name, files in asked.items() if len(files[0]) == 1}
    return {"board": BOARD, "floors": floors(), "models": found, "harnesses": others}


if __name__ == "__main__":
    recorded(replies)
