"""Training: options of the language model, what is shown while it goes on, and its result."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import click

from baselines.config import C4, LanguageConfig
from cli.shared.options import argument_of, directory, field_options, leave_out
from cli.shared.printing import print_json, print_rows, wants_json
from cli.shared.progress import Stopped
from sraven.core.escape import with_error

if TYPE_CHECKING:
    from baselines.config import RunConfig
    from baselines.lm.train import Text
    from baselines.session import Session
    from baselines.train.train import Outcome
    from sraven.networks.stopping import Stop


_IN_BRIEF = {
    "loss": "loss {:.3g}",
    "score": "score {:.3f}",
    "perplexity": "perplexity {:,.4g}",
    "instances_per_second": "{:,.0f}/s",
    "tokens_per_second": "{:,.0f} tokens/s",
}
"""Formats of what a progress bar shows of a line of the log."""


def describe_line(line: Mapping[str, float]) -> str:
    """Return a line of the log, short enough for a progress bar."""
    return "  ".join(form.format(line[name]) for name, form in _IN_BRIEF.items() if name in line)


def print_session(session: "Session", ended: "Sequence[Outcome]", summary: Mapping[str, Any] | None) -> None:
    """Print the result of each run, its folder, and the end of its log."""
    from baselines.train.result import read_result

    if wants_json():
        pairs = zip(session.folders, ended, strict=True)
        runs = [{"folder": str(folder), "training": of.report, **read_result(folder)} for folder, of in pairs]
        print_json(runs if summary is None else {**summary, "runs": runs})
        return
    for folder, config, outcome in zip(session.folders, session.configs, ended, strict=True):
        if outcome.diverged is None:
            score = f", {_describe_end(outcome.report, config)} in training" if outcome.report else ""
            click.echo(f"{folder}: {config.steps:,} steps{score}")
    if summary is not None:
        _print_grid(summary, session)


def _describe_end(last: Mapping[str, float], config: "RunConfig") -> str:
    from baselines.config import find_board

    if "score" in last:
        return f"{find_board(config.board).metric} {last['score']:.4f} and loss {last['loss']:.4g}"
    return f"loss {last['loss']:.4f}, perplexity {last['perplexity']:,.2f}"


def _print_grid(summary: Mapping[str, Any], session: "Session") -> None:
    """Print the points of a grid with their scores, and the command that evaluates the chosen one."""
    from baselines.train.code import code_files

    rows: list[tuple[str, ...]] = []
    for place, point in enumerate(summary["points"]):
        mean, error = point["mean"], point["standard_error"]
        score = f"diverged (seed {point['diverged']})" if mean is None else with_error(mean, error)
        chosen = "selected" if place == summary["selected"] else ""
        rows.append((*(f"{value:g}" for value in point["values"].values()), score, chosen))
    metric = f"{summary['metric']} ({summary['split']})"
    print_rows((*summary["points"][0]["values"], metric, ""), rows, box=None)
    if summary["selected"] is not None:
        best = summary["points"][summary["selected"]]
        runs = [session.out / best["folder"] / f"seed-{seed}" for seed in best["seeds"]]
        own = [part for name in code_files() for part in ("--import", runs[0] / name)]
        data = ["--data", "DIR"] * (summary["board"] == C4.id)
        click.echo(f"\nsraven evaluate {join(map(str, (*own, *runs, *data, '--out', 'entry')))}")


def check_interrupt(session: "Session", ended: "Sequence[Outcome]", stop: "Stop") -> None:
    """Stop with the exit code of a signal if one ended training, and say which step the runs reached."""
    stopped = [int(outcome.state.step) for outcome in ended if outcome.stopped]
    if not stopped or stop.received is None:
        return
    first, last = min(stopped), max(stopped)
    reached = f"{first:,}" if first == last else f"{first:,} to {last:,}"
    runs = f", of {len(stopped):,} runs" if len(stopped) > 1 else ""
    saved = (
        f"there is a checkpoint of step {reached} of {session.configs[0].steps:,}{runs}"
        if last
        else "no step was done"
    )
    raise Stopped(
        f"{session.out}: {stop.received.name}: {saved}; the same command goes on from there", stop.exit_code
    )


def check_divergence(session: "Session", ended: "Sequence[Outcome]") -> None:
    """Stop with exit code 1 if a run diverged."""
    from baselines.train.train import describe_divergence

    pairs = zip(session.folders, ended, strict=True)
    lost = [(folder, outcome) for folder, outcome in pairs if outcome.diverged is not None]
    if lost:
        folder, outcome = lost[0]
        more = f" (and {len(lost) - 1} more runs)" if len(lost) > 1 else ""
        raise Stopped(f"{folder}{more}: {describe_divergence(outcome)}; use a smaller learning rate", 1)


language_options = argument_of(
    "language",
    dict,
    click.option("--data", type=directory, multiple=True, help="c4: tokens to train on; may be repeated."),
    click.option(
        "--validation",
        type=directory,
        multiple=True,
        help="c4: documents to score while it trains, and to choose a grid's point by.",
    ),
    click.option("--size", metavar="paper|tiny", help="c4: of the model.  [default: paper]"),
    *field_options(LanguageConfig, ("length", "dtype"), "c4: "),
    click.option("--parts", type=click.IntRange(1), help="c4: parts of a batch, one after the other."),
    click.option("--tile", type=int, help="c4: positions of a tile of attention; 0 for none."),
    click.option("--rematerialise", is_flag=True, help="c4: recompute blocks for their gradients."),
)
"""Adds the options; the command gets their values by name as ``language``."""


def need_data(what: str, data: tuple[Path, ...]) -> None:
    """Refuse a command that names no tokens."""
    if not data:
        raise click.UsageError(f"{what} needs --data DIR, tokens that `sraven c4 prepare` made")


def text_of(language: Mapping[str, Any]) -> "Text":
    """Return what a language model is trained on.

    Raises:
        click.UsageError: for options without data.
    """
    from baselines.lm.experiment import Compute
    from baselines.lm.train import Text

    need_data(C4.id, language["data"])
    compute = Compute(language["parts"] or 1, language["tile"], language["rematerialise"])
    return Text(language["data"], language["validation"], language["size"] or "paper", compute)


def refuse_language(names: Collection[str], board_id: str) -> None:
    """Refuse options of the language model for a board that makes its own instances."""
    leave_out(names, f"{board_id} makes its own instances, and this is for the language model")
