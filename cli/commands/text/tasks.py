"""Folder of the tasks for lm-eval."""

import click

from cli.shared.printing import json_option, print_outcome


@click.command(name="tasks")
@json_option
def command() -> None:
    """Print the folder of the tasks for lm-eval, for its option --include_path.

    \b
    Example:
      lm_eval --include_path "$(sraven text tasks)" --tasks sraven_text_lite_v2 --model hf \\
        --model_args pretrained=gpt2
    """
    from importlib.resources import files

    path = str(files("sraven") / "harness" / "lm_eval")
    print_outcome(value={"path": path}, text=path)
