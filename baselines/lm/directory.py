"""The life of a directory of tokens: staged, resumed, published whole, replaced only by force.

The order in which it is published is that of `sraven.files.staging`.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from baselines.lm.token_shards import ARRAYS, ENTRIES, SHARDS, TOKENIZER, array_path
from sraven.core.errors import OutputError
from sraven.files.files import read_bounded, write_json
from sraven.files.lock import LOCK
from sraven.files.schemas import read_described
from sraven.files.staging import MANIFEST, STAGING, Plan, StagedDirectory

LAYOUT = 1
"""Version of the directory's layout and of the manifest."""

KIND = "tokens"
"""What distinguishes these manifests from those of datasets."""

PLAN = "plan.json"

_REPLACE = "choose another directory, or use --force to replace it"


def read_manifest(out: Path) -> dict[str, Any]:
    """Return the manifest of a directory of tokens.

    Raises:
        OutputError: if there is none, or it isn't one that this version reads.
    """
    path = out / MANIFEST
    if not path.is_file():
        unfinished = "unfinished: run the same `sraven c4 prepare` again, and it goes on"
        state = unfinished if (out / STAGING).is_dir() else "`sraven c4 prepare` makes one"
        raise OutputError(f"{out} has no {MANIFEST}; {state}")
    try:
        return read_described(path, "tokens")
    except (OSError, ValueError) as error:
        raise OutputError(
            f"{path} isn't the manifest of a directory of tokens ({error}); choose another"
        ) from None


def differences(plan: Plan, other: Plan) -> list[str]:
    """Return the names of what differs between two plans."""
    return sorted(key for key in {*plan, *other} if plan.get(key) != other.get(key))


class TokensDirectory(StagedDirectory):
    """A directory of tokens while it is written."""

    PLAN, FILES = PLAN, (TOKENIZER,)

    def read_manifest(self, folder: Path) -> dict[str, Any]:
        """Return the manifest in a directory."""
        return read_manifest(folder)

    def refuse_other(self, manifest: Mapping[str, Any]) -> None:
        """Refuse a directory that holds other tokens."""
        different = [name for name in differences(self.plan, manifest["plan"]) if name != "sentencepiece"]
        if not self.force and different:
            raise OutputError(f"{self.out} holds other tokens ({', '.join(different)} differ); {_REPLACE}")

    def refuse_begun(self, staged: Plan | None) -> None:
        """Refuse a directory without manifest that isn't one of ours, or other tokens unfinished."""
        left = set(os.listdir(self.staging)) if self.staging.is_dir() else None
        if left is None or (left and not left & {PLAN, LOCK}):
            raise OutputError(f"{self.out} isn't empty and holds no tokens; choose another directory")
        if not self.force and staged and (different := differences(self.plan, staged)):
            raise OutputError(
                f"{self.out} holds other tokens, unfinished ({', '.join(different)} differ); {_REPLACE}"
            )

    def staged_plan(self) -> dict[str, Any] | None:
        """Return the plan that was begun; None if there is none."""
        try:
            return dict(json.loads(read_bounded(self.staging / PLAN)))
        except (OSError, ValueError, TypeError):
            return None

    def begin(self) -> None:
        """Write the plan."""
        write_json(self.staging / PLAN, self.plan)

    def folders(self) -> Sequence[str]:
        """Return the folders of the shards, and of what is known of each."""
        return SHARDS, ENTRIES

    def data(self, plan: Plan) -> str:
        """Return the folder of the shards."""
        return SHARDS

    def has_data(self, folder: Path, manifest: Mapping[str, Any]) -> bool:
        """Return whether the shards lie in a directory, in the sizes that the manifest says."""
        try:
            return all(
                array_path(folder, shard["name"], array).stat().st_size == shard["file_bytes"][array]
                for shard in manifest["shards"]
                for array in ARRAYS
            )
        except (OSError, KeyError, TypeError):
            return False
