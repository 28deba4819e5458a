"""Puzzles as text: cost, generate, play, score, submit, tasks."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from cli.lazy import LazyGroup
from cli.shared.imports import needs_extra
from cli.shared.options import existing_file, threads_option
from cli.shared.outputs import output_directory, output_file, spare
from cli.shared.printing import json_option, print_outcome, print_rows, wants_json
from cli.shared.questions import board_questions, is_given, leave_out, question_options
from sraven.core.base.escape import quoted

if TYPE_CHECKING:
    from cli.shared.questions import InOrder
    from sraven.task import SRAVEN
    from sraven.text.completions import Score, Usage
    from sraven.text.grading import Grades
    from sraven.text.questions import Questions


@click.group(name="text", cls=LazyGroup)
def command() -> None:
    """Puzzles as text, for any language model behind any interface.

    \b
    Example:
      sraven text generate --M 4 --K 8 -n 2000 --out prompts.jsonl
      sraven text score completions.jsonl
    """


def _counter(path: Path) -> Callable[[str], int]:
    """Return what counts the tokens of a text by a tokenizer in a file."""
    load: Callable[[str], Any]
    if path.suffix == ".json":
        with needs_extra("--tokenizer FILE.json", "transformers"):
            from tokenizers import Tokenizer
        load = Tokenizer.from_file
    else:
        with needs_extra("--tokenizer FILE.model", "baselines"):
            from sentencepiece import SentencePieceProcessor
        load = SentencePieceProcessor
    try:
        tokenizer = load(str(path))
    except Exception as error:  # each library has exceptions of its own
        reason = " ".join(str(error).split())
        raise click.UsageError(f"{path} is no tokenizer.json and no SentencePiece model: {reason}") from None
    return lambda text: len(tokenizer.encode(text))


@command.command(name="cost", short_help="Tokens and price of a run of a board, before anything is sent.")
@click.option("--board", "board_id", required=True, help="The board.")
@click.option("--form", default="told", show_default=True, metavar="told|untold", help="As for `generate`.")
@click.option("--shots", type=int, default=0, show_default=True, help="As for `generate`.")
@click.option(
    "--tokens-per-reply",
    type=click.IntRange(0, 1 << 20),
    default=1000,
    show_default=True,
    help="How long replies are, thoughts included.",
)
@click.option(
    "--price-in", type=click.FloatRange(0), default=0, help="US dollars for a million tokens of prompts."
)
@click.option(
    "--price-out", type=click.FloatRange(0), default=0, help="US dollars for a million tokens of replies."
)
@click.option(
    "--tokenizer",
    type=existing_file,
    metavar="FILE",
    help="A tokenizer.json or SentencePiece .model to count by.",
)
@json_option
def cost(
    board_id: str,
    form: str,
    shots: int,
    tokens_per_reply: int,
    price_in: float,
    price_out: float,
    tokenizer: Path | None,
) -> None:
    """Print how many tokens a run of a board takes, and its price; nothing is sent.

    Tokens of prompts are estimated unless a tokenizer is given: one for each word, number and mark, and for
    each space before a number. How long replies are, only you can say: models that think take thousands.

    \b
    Example:
      sraven text cost --board sraven-text-lite-v2 --tokens-per-reply 4000 --price-in 2.5 --price-out 10
    """
    from sraven.text.tokens import estimate_tokens

    questions, _ = board_questions(board_id, form, shots)
    count = estimate_tokens if tokenizer is None else _counter(tokenizer)
    prompts = [prompt for each in questions for part in each.parts() for prompt in each.prompts(part)]
    count_prompts, tokens = len(prompts), sum(map(count, prompts))
    replied = count_prompts * tokens_per_reply
    price = (tokens * price_in + replied * price_out) / 1e6
    kind = "estimated" if tokenizer is None else f"by {tokenizer.name}"
    value = {"board": board_id, "questions": count_prompts, "input_tokens": tokens}
    value |= {"estimated": tokenizer is None, "output_tokens": replied, "cost_usd": price}
    print_outcome(
        value=value,
        text=f"{board_id}: {count_prompts:,} questions\n"
        f"prompts: {tokens:,} tokens, {tokens / count_prompts:,.0f} each ({kind})\n"
        f"replies: {replied:,} tokens, {tokens_per_reply:,} each"
        + (f"\nprice:   {price:,.2f} US dollars" if price else ""),
    )


SCHEMES = ("context", "uniform", "near", "centred")
"""Names of `sraven.text.SCHEMES`, for the help, which imports no kernels."""


@contextmanager
def _writing(out: Path | None) -> Iterator[IO[str]]:
    """Yield what to write to: a file that appears whole or not at all, or standard output."""
    from sraven.core.system.files import replacing

    if out is None:
        if sys.stdout is None:
            raise click.UsageError("there is no standard output; name a file with --out")
        yield sys.stdout
        return
    with replacing(out) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        yield file


@command.command(name="generate", short_help="Prompts as JSON Lines.")
@question_options
@click.option("--shots", type=int, default=0, show_default=True, help="Solved examples of train, for each.")
@click.option(
    "--choices",
    metavar="|".join(SCHEMES),
    help="Give eight panels to choose from, wrong ones drawn like this.",
)
@click.option("--solved", is_flag=True, help="Add the answers, and texts to train on.")
@click.option(
    "--remaining",
    type=existing_file,
    metavar="COMPLETIONS",
    help="Leave out what has a completion in this file.",
)
@click.option("--out", type=output_file, help="File to write.")
@json_option
def generate(
    task: "SRAVEN",
    board_id: str | None,
    split: str,
    count: int,
    form: str,
    shots: int,
    choices: str | None,
    solved: bool,
    remaining: Path | None,
    out: Path | None,
) -> None:
    """Write prompts as JSON Lines, to standard output or a file.

    Each line is an object with `id`, `split`, `index`, `sha256` (of the prompt) and `prompt`. The id says
    all about a question, so `sraven text score` needs nothing but the completions. The same command gives
    the same bytes anywhere. With --remaining, it leaves out the questions that have a completion in a file;
    with --board, it gives those of a board of the leaderboard.

    \b
    Example:
      sraven text generate --M 4 --K 8 -n 2000 --out prompts.jsonl
      sraven text generate --form untold --shots 5 > prompts.jsonl
      sraven text generate --M 4 --K 8 -n 2000 --remaining completions.jsonl
      sraven text generate --board sraven-text-lite-v2 --out prompts.jsonl
    """
    from sraven.text.completions import answered
    from sraven.text.ids import ask
    from sraven.text.records import as_line, records

    if wants_json() and out is None:
        raise click.UsageError("prompts are JSON themselves, an object a line; --json goes with --out FILE")
    spare(out, [remaining] if remaining else [])
    if board_id is None:
        sets: tuple[Questions, ...] = (ask(task, split, count, form, shots, choices),)
        in_order: InOrder = chain.from_iterable
    else:
        sets, in_order = board_questions(board_id, form, shots)
    written = 0
    with _writing(out) as file:
        wanted = (remaining and ~answered(remaining, questions) for questions in sets)
        for record in in_order(map(records, sets, wanted, repeat(solved))):
            file.write(as_line(record))
            written += 1
    names = [questions.name for questions in sets]
    if out is not None:
        value = {"path": str(out), "prompts": written, "questions": names}
        print_outcome(value=value, text=f"{out}: {written:,} prompts, {' '.join(names)}")


def _practise(task: "SRAVEN", count: int, form: str) -> "tuple[Questions, ...]":
    """Return puzzles of train, from easy to hard, or of the one level that options name."""
    from sraven.text.play import PRACTICE_COUNT, PRACTICE_FEATURES, PRACTICE_SPLIT, practise

    leave_out(("board_id", "split"), f"--practice shows answers, so it takes puzzles of {PRACTICE_SPLIT}")
    if not is_given("answers"):
        task = replace(task, answers="any")
    features = (task.M,) if is_given("M") else PRACTICE_FEATURES
    return practise(task, features, count if is_given("count") else PRACTICE_COUNT, form)


@command.command(name="play", short_help="Puzzles as a page for people to solve.")
@question_options
@click.option("--practice", is_flag=True, help="Puzzles of train, with answers and rules after each reply.")
@click.option("--out", type=output_file, required=True, help="File to write, such as page.html.")
@json_option
def play(
    board_id: str | None, task: "SRAVEN", split: str, count: int, form: str, practice: bool, out: Path
) -> None:
    """Write a page of HTML on which a person answers questions.

    It is one file, which any browser opens and which sends no requests. Replies stay in the browser. What
    it offers for download are completions with the ids of `sraven text generate`, which `sraven text score`
    and `sraven text submit` read. Targets aren't in it, but for --practice: puzzles of
    train, 5 each of M = 1 to 4 unless --M and -n say otherwise, and with several answers unless --answers
    says otherwise.

    \b
    Example:
      sraven text play --board sraven-text-lite-v2 --out page.html
      sraven text play --M 3 --K 10 -n 50 --out page.html
      sraven text play --practice --out practice.html
    """
    from sraven.core.system.files import write_text
    from sraven.text.play import make_play
    from sraven.text.questions import Questions

    sets: tuple[Questions, ...]
    in_order: InOrder = chain.from_iterable
    if practice:
        sets, title = _practise(task, count, form), "practice"
    elif board_id is not None:
        (sets, in_order), title = board_questions(board_id, form), board_id
    else:
        sets = (Questions(task, split, count, form),)
        title = sets[0].name
    write_text(out, make_play(sets, title, practice, in_order))
    total, names = sum(questions.count for questions in sets), [questions.name for questions in sets]
    value = {"path": str(out), "puzzles": total, "questions": names}
    print_outcome(value=value, text=f"{out}: {total:,} puzzles, {' '.join(names)}")


def _write_verdicts(file: IO[str], ids: Sequence[str], strict: "Grades", lenient: "Grades") -> None:
    """Write a line for each completion: the answer in it and its verdict, by both readings."""
    for row, name in enumerate(ids):
        line = {"id": name, **_verdict(strict, row), "lenient": _verdict(lenient, row)}
        file.write(json.dumps(line) + "\n")


def _verdict(grades: "Grades", row: int) -> dict[str, Any]:
    answer = grades.panels[row].tolist() if grades.parsed[row] else None
    return {"answer": answer, "target": bool(grades.target[row]), "valid": bool(grades.valid[row])}


def _print_scores(scores: "Sequence[Score]") -> None:
    """Print a row for each set of questions, and another one where the two readings differ.

    The first is by the reading that the form is ranked by.
    """
    from sraven.text.completions import Usage
    from sraven.text.forms import FORMS

    rows = []
    for score in scores:
        others = f"{score.missing:,}", score.ceiling or "–", f"{score.chance:.2g}"
        read = [("strictly", [score.target, score.valid, score.unparsed])]
        read.append(("leniently", list(vars(score.lenient).values())))
        (_, first), (other, second) = reversed(read) if FORMS[score.form].lenient else read
        rows.append([score.questions, f"{score.n:,}", *first, *others])
        if score.lenient.unparsed.value < score.unparsed.value:
            rows.append([f"  read {other}", "", *second, "", "", ""])
    print_rows(("questions", "n", "target", "valid", "unparsed", "missing", "ceiling", "chance"), rows)
    for score in scores:
        for name, value in score.floors.items():
            click.echo(f"baseline of {score.questions}, choosing the {name}: {value}")
    if any(score.ceiling is None for score in scores):
        click.echo(
            "ceiling –: the ideal observer knows the rules, which these prompts don't explain", err=True
        )
    _print_usage(sum((score.usage for score in scores), Usage()))
    for score in scores:
        for reason, count in score.reasons.items():
            click.echo(f"{score.questions}: {count:,} unparsed: {reason}", err=True)
        for reply in score.unread:
            click.echo(f"  {reply.id} ends in {quoted(reply.end)}", err=True)


def _print_usage(usage: "Usage") -> None:
    """Print the tokens of the replies and what they cost, as far as they say it."""
    if usage.with_tokens:
        sent, said = usage.input_tokens, usage.output_tokens
        each = said / usage.with_tokens
        _print_sum(
            f"tokens: {sent:,} of prompts, {said:,} of replies ({each:,.0f} each)", usage.with_tokens, usage
        )
    if usage.with_cost:
        _print_sum(f"cost: {usage.cost_usd:,.2f} US dollars", usage.with_cost, usage)


def _print_sum(text: str, replies: int, usage: "Usage") -> None:
    """Print a sum over some of the replies."""
    click.echo(text if replies == usage.replies else f"{text}, from {replies:,} of {usage.replies:,} replies")


@command.command(name="score", short_help="Exact scores of completions.")
@click.argument("completions", type=existing_file)
@click.option("--out", type=output_file, help="File for the verdict on each of them.")
@threads_option
@json_option
def score(completions: Path, out: Path | None, threads: int | None) -> None:
    """Score COMPLETIONS, a file of JSON Lines, against the questions that their ids name.

    A line is an object with `id`, as `sraven text generate` gave it, and `completion`, the text that the
    model replied with, or null. Completions may come in any order, and from several sets of questions. A
    question without one counts as wrong. A line that can't be read, an id that isn't known and a second
    completion of a question are refused.

    `target` is the share of answers that are the instance's own, `valid` the share that any rules explain;
    `unparsed` the share of replies that don't end in an answer, which are wrong. Replies are read strictly,
    as prompts ask for them, and once more as a person would read them: where that finds more answers, there
    are two rows, and `lenient` in the JSON. The first row is by the reading that the boards rank by.

    A line may say what the reply took: `usage` with `input_tokens` and `output_tokens`, or `prompt_tokens`
    and `completion_tokens`, and `cost` in US dollars. They are summed.

    \b
    Example:
      sraven text score completions.jsonl
      sraven text score completions.jsonl --json --out verdicts.jsonl
    """
    from sraven.core.system.files import replacing
    from sraven.text.completions import score_completions

    spare(out, [completions])
    with ExitStack() as stack:
        on_graded = None
        if out is not None:
            temporary = stack.enter_context(replacing(out))
            file = stack.enter_context(open(temporary, "w", encoding="utf-8", newline="\n"))
            on_graded = partial(_write_verdicts, file)
        scores = score_completions(completions, threads=threads, on_graded=on_graded)
    print_outcome(value=scores, text=lambda: _print_scores(scores))
    for score in scores:
        if score.missing:
            click.echo(
                f"{score.questions}: {score.missing:,} of {score.n:,} questions have no completion and count "
                f"as wrong; the first is {score.first_missing}",
                err=True,
            )


@command.command(name="submit", short_help="Completions of a board's questions as a submission.")
@click.argument("completions", nargs=-1, required=True, type=existing_file)
@click.option(
    "--board", "board_id", default="sraven-text-v1", show_default=True, help="Board of the questions."
)
@click.option("--out", type=output_directory, required=True, help="Directory to write.")
@click.option("--model", required=True, help="Name of the model.")
@click.option("--revision", required=True, help="Its revision: a commit, or the version that an API names.")
@click.option("--harness", required=True, help="What put the prompts to it.")
@click.option("--harness-version", required=True, help="Version of that.")
@click.option("--temperature", type=float, help="At which it was sampled; 0 for the most probable token.")
@click.option("--parameters", type=int, help="Number of its parameters, if it is known.")
@click.option("--trained-on", type=int, default=0, show_default=True, help="Puzzles that it was trained on.")
@click.option("--name", help="What the entry is called; the model's name unless given.")
@click.option("--description", default="A language model.", show_default=True, help="In a sentence.")
@click.option("--author", "authors", multiple=True, required=True, help="Who submits it; may be repeated.")
@json_option
def submit(
    completions: tuple[Path, ...],
    board_id: str,
    out: Path,
    temperature: float | None,
    parameters: int | None,
    trained_on: int,
    name: str | None,
    description: str,
    authors: tuple[str, ...],
    **replies: Any,
) -> None:
    """Write the submission of COMPLETIONS of a board's questions, each file a run of its own.

    A line of a file is an object with `id` and `completion`, as for `sraven text score`. All have to be of
    the questions that `sraven text generate --board` gives, in one form. A question without a completion
    counts as wrong. Completions are submitted as they are: `sraven score` reads and scores them.

    \b
    Example:
      sraven text submit completions.jsonl --out my-submission --model org/model --revision 1f0c2d3 \\
        --harness "my script" --harness-version 1 --temperature 0 --author "A. Author"
    """
    from sraven.text.submission import write_text_submission

    read = write_text_submission(
        out,
        board_id,
        completions,
        method={"name": name or replies["model"], "description": description, "authors": list(authors)},
        model={"parameters": parameters},
        training={"instances": trained_on, "selection_split": None},
        replies=replies if temperature is None else {**replies, "temperature": temperature},
    )
    for path, each in zip(completions, read, strict=True):
        if each.missing:
            click.echo(f"{path}: {each.missing:,} questions have no completion and count as wrong", err=True)
    missing = {str(path): each.missing for path, each in zip(completions, read, strict=True)}
    value = {"path": str(out), "board": board_id, "form": read[0].form, "missing": missing}
    print_outcome(value=value, text=f"{out}: {read[0].form}\n\nsraven score {out}")


@command.command(name="tasks", short_help="Folder of the tasks for lm-eval.")
@json_option
def tasks() -> None:
    """Print the folder of the tasks for lm-eval, for its option --include_path.

    \b
    Example:
      lm_eval --include_path "$(sraven text tasks)" --tasks sraven_m4 --model hf --model_args pretrained=gpt2
    """
    from importlib.resources import files

    path = str(files("sraven") / "harness" / "lm_eval")
    print_outcome(value={"path": path}, text=path)
