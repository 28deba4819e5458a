"""No command writes over what it reads."""


def test_directories(done, refused, small_boards, tmp_path):
    folder, part = tmp_path / "mine", tmp_path / "part"
    done("reference", "sraven-small-v1", "copy-last-panel", "--out", folder)
    before = (folder / "submission.yaml").read_bytes()
    for inside in ("submission.yaml", "predictions/test/seed-0.parquet", "new/file.json"):
        assert "is within what is read" in refused("score", folder, "--out", folder / inside)
    assert (folder / "submission.yaml").read_bytes() == before
    done("score", folder, "--out", folder / "scores.json")
    line = "generate --M 2 --K 4 --train 60 --test 20 --ood 20 --part 1/1 --out"
    done(*line.split(), part)
    assert "is what is read" in refused("merge", part, "--out", part)
