"""The targets of the attacks, a table.

In all of them: only an error of the project comes out, as one seen line of bounded length; time and
memory are bounded; nothing outside of the folder is written, and nothing runs. What is accepted reads
the same again.
"""

from fuzz import binary_targets as binary, text_targets as text
from fuzz.changes import change_bytes, change_json
from fuzz.harness import Target


def texts(*texts):
    return lambda: list(texts)


def file_of_dataset(name, change):
    return Target(binary.dataset_seeds(name), change, binary.run_dataset(name), 100)


TARGETS: dict[str, Target] = {
    "yaml": Target(texts(text.DESCRIPTION, *text.LINES), change_bytes, text.run_yaml, 1000),
    "schema": Target(text.schema_seeds, change_json, text.run_schema, 1000),
    "parquet": Target(
        binary.parquet_seeds, binary.change_predictions, binary.run_parquet, 1000, may_abort=True
    ),
    "manifest": file_of_dataset("manifest.json", change_json),
    "remote-manifest": Target(binary.dataset_seeds("manifest.json"), change_json, binary.run_remote, 100),
    "journal": Target(binary.journal_seeds, binary.change_line, binary.run_journal, 100),
    "card": file_of_dataset("README.md", change_bytes),
    "croissant": file_of_dataset("croissant.json", change_json),
    "run-config": Target(text.config_seeds, change_json, text.run_config, 1000),
    "run-log": Target(texts(text.LOG_LINES), change_bytes, text.run_log, 2000),
    "records": Target(text.record_seeds, text.change_records, text.run_records, 1000),
    "record-tables": Target(text.table_seeds, text.change_records, text.run_records, 10),
    "replies": Target(texts(*text.REPLIES), change_bytes, text.run_reply, 10_000),
    "completions": Target(text.completion_seeds, change_bytes, text.run_completions, 1000),
    "command-line": Target(texts(*map(str.encode, text.COMMANDS)), change_bytes, text.run_command_line, 100),
}
"""The targets, by name."""
