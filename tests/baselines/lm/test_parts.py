"""Tokens in parts, and their merge: the same bytes as at once, and clear lines for what isn't that."""

import json
from dataclasses import replace

import pytest

from baselines.lm.parts import merge_tokens
from baselines.lm.prepare import TokenizerTraining, prepare
from helpers.example import all_bytes
from helpers.refusals import assert_refused
from sraven import OutputError
from sraven.core.system.parts import Part
from sraven.core.system.staging import STAGING


@pytest.fixture
def parts(preparation, tmp_path):
    """The directories of two parts: sources 1 and 3, and source 2."""
    folders = [tmp_path / f"part-{number}" for number in (1, 2)]
    for number, folder in enumerate(folders, 1):
        prepare(preparation, folder, part=Part(number, 2), processes=1)
    return folders


def test_merged_in_any_order_it_is_what_is_prepared_at_once(parts, preparation, directory, tmp_path):
    before = [all_bytes(folder) for folder in parts]
    for number, order in enumerate([parts, parts[::-1]]):
        merge_tokens(order, tmp_path / f"merged-{number}")
        assert all_bytes(tmp_path / f"merged-{number}") == all_bytes(directory)
    assert [all_bytes(folder) for folder in parts] == before
    prepare(preparation, parts[0], processes=1)  # without a part, the command finishes one
    assert all_bytes(parts[0]) == all_bytes(directory)


def refused(folders, out, match):
    assert_refused(match, merge_tokens, folders, out, error=OutputError)
    assert not out.exists()


def test_what_is_no_tokens_of_these_parts_is_refused(parts, preparation, directory, tmp_path):
    (one, two), out = parts, tmp_path / "merged"
    refused([one], out, r"1 of 3 sources are in none of these parts \(.*b\.jsonl\); name the other parts")
    refused([one, two, one], out, r"00000-00000 is in .*part-1 and in .*part-1; leave out one")
    refused([directory, one], out, "corpus holds whole tokens; `sraven c4 prepare --part 1/64")
    refused([tmp_path / "absent"], out, "absent holds no part of tokens")
    refused([], out, "there are no parts")
    prepare(replace(preparation, shard_documents=8), tmp_path / "other", part=Part(2, 2))
    refused([one, tmp_path / "other"], out, r"part of other tokens than .*part-1 \(shard_documents differ\)")


def test_unfinished_sources_and_damaged_shards_arent_published(parts, preparation, directory, tmp_path):
    (parts[0] / STAGING / "entries" / "00000-00003.json").unlink()
    refused(parts, tmp_path / "merged", r"1 of 3 sources are in none of these parts \(.*a\.jsonl\)")
    prepare(preparation, parts[0], part=Part(1, 2), processes=1)
    tokens = parts[1] / STAGING / "shards" / "00001-00000.tokens.npy"
    tokens.write_bytes(tokens.read_bytes()[:-1] + b"\x7f")
    with pytest.raises(OutputError, match=r"tokens\.npy is missing or damaged; .* mends it"):
        merge_tokens(parts, tmp_path / "merged")
    assert not (tmp_path / "merged" / "manifest.json").exists()
    prepare(preparation, parts[1], part=Part(2, 2), processes=1)
    merge_tokens(parts, tmp_path / "merged")
    assert all_bytes(tmp_path / "merged") == all_bytes(directory)


def test_what_parts_cant_share_is_refused(preparation, directory, tmp_path):
    for changes, message in (
        ({"limit": 5}, r"limit=5: .*leave out the limit or the part"),
        ({"tokenizer": TokenizerTraining()}, r"tokenizer=train: .*give its tokenizer\.model"),
    ):
        assert_refused(message, prepare, replace(preparation, **changes), tmp_path / "part", part=Part(1, 2))
    assert not (tmp_path / "part").exists()
    with pytest.raises(OutputError, match="holds the whole already"):
        prepare(preparation, directory, part=Part(1, 2))


def test_the_commands(run, source_files, directory, tmp_path):
    pattern, model = source_files / "*.jsonl", directory / "tokenizer.model"
    line = ["c4", "prepare", f"--source={pattern}", f"--tokenizer={model}", "--shard-documents=7"]
    for number in (1, 2):
        out = tmp_path / str(number)
        code, printed, _ = run(*line, f"--part={number}/2", "--processes=1", "--out", out)
        assert code == 0 and "sraven merge" in printed and f"part {number}/2: " in printed
    code, _, err = run("merge", tmp_path / "2", "--out", tmp_path / "merged")
    assert code == 2 and "2 of 3 sources are in none of these parts" in err
    code, printed, _ = run("merge", tmp_path / "2", tmp_path / "1", "--out", tmp_path / "merged")
    assert code == 0 and "29 documents in 6 shards" in printed
    code, printed, _ = run(*line, "--part=1/2", "--processes=1", "--out", tmp_path / "1", "--json")
    assert code == 0 and json.loads(printed)["documents"] == 24
