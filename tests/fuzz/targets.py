"""What is attacked, and what has to hold: a table of targets.

In all of them: only an error of the project comes out, as one seen line of bounded length; time and
memory are bounded; nothing outside of the folder is written, and nothing runs. What is accepted reads
the same again.
"""

from collections.abc import Callable

from fuzz.binary_targets import (
    change_line,
    change_predictions,
    dataset_seeds,
    journal_seeds,
    parquet_seeds,
    run_dataset,
    run_journal,
    run_parquet,
    run_remote,
)
from fuzz.changes import change_bytes, change_json
from fuzz.harness import Target
from fuzz.reply_targets import REPLIES, completion_seeds, run_completions, run_reply
from fuzz.text_targets import (
    COMMANDS,
    DESCRIPTION,
    LINES,
    LOG_LINES,
    change_records,
    config_seeds,
    record_seeds,
    run_command_line,
    run_config,
    run_log,
    run_records,
    run_schema,
    run_training_log,
    run_yaml,
    schema_seeds,
    table_seeds,
)


def texts(*texts: bytes) -> Callable[[], list[bytes]]:
    return lambda: list(texts)


TARGETS: dict[str, Target] = {
    "yaml": Target(texts(DESCRIPTION, *LINES), change_bytes, run_yaml, 1000),
    "schema": Target(schema_seeds, change_json, run_schema, 1000),
    "parquet": Target(parquet_seeds, change_predictions, run_parquet, 1000, may_abort=True),
    "manifest": Target(dataset_seeds("manifest.json"), change_json, run_dataset("manifest.json"), 100),
    "remote-manifest": Target(dataset_seeds("manifest.json"), change_json, run_remote, 100),
    "journal": Target(journal_seeds, change_line, run_journal, 100),
    "card": Target(dataset_seeds("README.md"), change_bytes, run_dataset("README.md"), 100),
    "croissant": Target(dataset_seeds("croissant.json"), change_json, run_dataset("croissant.json"), 100),
    "training-log": Target(texts(LOG_LINES), change_bytes, run_training_log, 10_000),
    "run-config": Target(config_seeds, change_json, run_config, 1000),
    "run-log": Target(texts(LOG_LINES), change_bytes, run_log, 2000),
    "records": Target(record_seeds, change_records, run_records, 1000),
    "record-tables": Target(table_seeds, change_records, run_records, 10),
    "replies": Target(texts(*REPLIES), change_bytes, run_reply, 10_000),
    "completions": Target(completion_seeds, change_bytes, run_completions, 1000),
    "command-line": Target(texts(*map(str.encode, COMMANDS)), change_bytes, run_command_line, 100),
}
"""The targets, by name."""
