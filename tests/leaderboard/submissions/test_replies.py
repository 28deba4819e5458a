"""Submissions of replies: what is read is what was written, and untrusted replies do no harm."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from helpers.submissions import SRAVEN_BOARD, edit, only_boards, parquet, plant, small_contents, write
from helpers.text_board import described, right_replies, text_board, text_contents, write_replies
from helpers.untrusted import refusal
from sraven import score_submission
from sraven.files import decode
from sraven.files.decode import MOST_REPLY

COLUMNS = [("index", "int64", 0), ("prediction", "text", 0)]


@pytest.fixture(scope="module", autouse=True)
def _boards(tmp_path_factory):
    contents = {**text_contents(), SRAVEN_BOARD: small_contents()[SRAVEN_BOARD]}
    with only_boards(tmp_path_factory.mktemp("boards"), contents):
        yield


@pytest.fixture
def folder(tmp_path):
    return write_replies(tmp_path / "submission")


def rows(index, texts, **options):
    """Return a file of replies."""
    values = pa.array(texts, pa.string()) if isinstance(texts, list) else texts
    return parquet({"index": np.asarray(index, np.int64), "prediction": values}, **options)


# There and back


def test_several_runs_of_a_sampled_model_all_count(tmp_path):
    replies = right_replies()
    folder = write_replies(
        tmp_path / "runs", [replies, [*replies[:22], *["?"] * 22]], said={"temperature": 1}
    )
    found = score_submission(folder)["splits"]["ladder"]["metrics"]["accuracy"]
    assert (found["by_seed"], found["mean"]) == ([1.0, 0.5], 0.75) and found["standard_error"] == 0.25


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), min_size=44, max_size=44))
def test_any_text_is_a_reply_and_comes_back_as_it_was(texts):
    index, lengths, data = decode.decode(rows(range(44), texts), 44, COLUMNS)
    assert index.tolist() == list(range(44)) and lengths.tolist() == [len(text.encode()) for text in texts]
    assert data == "".join(texts).encode()
    found = text_board().read("ladder", texts)
    assert found.shape == (44, 3) and (found[:, 0] == 255).sum() >= sum(
        "Answer" not in text for text in texts
    )


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_files_of_other_writers_are_read(folder, kind):
    """In any order, with and without a dictionary, as strings with short and long offsets."""
    replies = right_replies()
    order = np.random.default_rng(0).permutation(44)
    texts = pa.array([replies[row] for row in order], kind)
    plant(folder, rows(order, texts, use_dictionary=True, compression="snappy", row_group_size=7), "ladder")
    assert score_submission(folder)["splits"]["ladder"]["metrics"]["accuracy"]["mean"] == 1.0


def test_missing_replies_are_wrong_and_told(folder):
    plant(folder, rows(range(40), right_replies()[:40]), "ladder")
    found = score_submission(folder)["splits"]["ladder"]
    assert found["missing"] == [4] and found["metrics"]["accuracy"]["mean"] == pytest.approx(40 / 44)
    assert found["metrics"]["unparsed"]["mean"] == pytest.approx(4 / 44)


# Hostile replies and files


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (rows([0], ["x" * (MOST_REPLY + 1)]), "row 0: prediction has 32,769 bytes; expected 32,768 or fewer"),
        (rows([0, 1], ["x", None]), "row 1: prediction is missing"),
        (rows([0], pa.array([b"x"], pa.binary())), "has prediction of type binary; expected string"),
    ],
)
def test_files_that_are_none_of_replies_are_refused(folder, data, message):
    plant(folder, data, "ladder")
    assert message in refusal(score_submission, folder)


def test_a_small_file_of_much_text_is_refused_before_it_fills_memory(folder):
    """A dictionary says a long reply once and means it thousands of times."""
    long = "x" * MOST_REPLY
    count = decode.MOST_REPLIES // MOST_REPLY + 1
    data = rows(np.zeros(count), [long] * count, use_dictionary=True)
    assert len(data) < 1 << 20
    with pytest.raises(ValueError, match="bytes of text; expected 67,108,864 or fewer"):
        decode.decode(data, count, COLUMNS)


# Tampering


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"prompt_digest": "0" * 64}, "000000000000…, but the prompts of sraven-text-small-v1 in the form"),
        ({"form": "untold-0-shot"}, "the model was asked something else"),
        ({"form": "sung"}, "replies.form is 'sung'; sraven-text-small-v1 has told-0-shot, untold-0-shot"),
        ({"model": "a\u202eb"}, "replies.model"),
        ({"prompts": "mine"}, "replies has 'prompts'; expected only model, revision"),
    ],
)
def test_other_prompts_than_the_board_s_are_refused(folder, said, message):
    edit(folder, lambda content: content["replies"].update(said))
    assert message in refusal(score_submission, folder)


def test_descriptions_belong_to_their_kind_of_board(folder, tmp_path):
    edit(folder, lambda content: content.pop("replies"))
    assert "lacks 'replies': sraven-text-small-v1 asks which" in refusal(score_submission, folder)
    numbers = write(tmp_path / "numbers", "sraven-small-v1")
    edit(numbers, lambda content: content.update(replies=described()))
    assert "has 'replies'; sraven-small-v1 takes predictions" in refusal(score_submission, numbers)
    edit(numbers, lambda content: (content.pop("replies"), content["model"].update(parameters=None)))
    assert "model.parameters is None; expected an integer" in refusal(score_submission, numbers)
