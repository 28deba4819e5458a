"""From the prompts of a board to a submission, on the command line."""

import hashlib
import json

import pytest
import yaml

from helpers.submissions import only_boards
from helpers.text_board import BOARD, SECOND, right_replies, text_board, text_contents
from sraven.text import find_question
from sraven.text.published import read_sets
from sraven.text.tokens import estimate_tokens

SAID = ("--model", "org/m", "--revision", "1", "--harness", "h", "--harness-version", "2", "--author", "A")


@pytest.fixture(scope="module", autouse=True)
def _boards(tmp_path_factory):
    from helpers.submissions import SRAVEN_BOARD, small_contents

    contents = {**text_contents(), **text_contents(SECOND), SRAVEN_BOARD: small_contents()[SRAVEN_BOARD]}
    with only_boards(tmp_path_factory.mktemp("boards"), contents):
        yield


@pytest.fixture
def prompts(run, tmp_path):
    assert run("text", "generate", "--board", BOARD, "--out", tmp_path / "prompts.jsonl")[0] == 0
    return [json.loads(line) for line in (tmp_path / "prompts.jsonl").read_text().splitlines()]


def complete(path, prompts, replies=None):
    """Write a file of completions, the last question first."""
    pairs = zip(prompts, right_replies() if replies is None else replies, strict=True)
    lines = [json.dumps({"id": each["id"], "completion": reply}) for each, reply in pairs]
    path.write_text("\n".join(reversed(lines)))
    return path


def test_prompts_of_a_board_are_those_that_it_pins(prompts):
    checksum = hashlib.sha256("".join(each["prompt"] + "\0" for each in prompts).encode()).hexdigest()
    assert checksum == text_board().prompts["told-0-shot"] and len({each["id"] for each in prompts}) == 44


def test_completions_become_a_submission_that_scores(run, done, prompts, tmp_path):
    replies = [*right_replies()[:40], None, "no", "", "Answer: [9 9]"]
    path = complete(tmp_path / "done.jsonl", prompts, replies)
    out = done("text", "submit", path, "--board", BOARD, "--out", tmp_path / "s", *SAID, "--json")
    assert json.loads(out)["form"] == "told-0-shot"
    code, out, _ = run("score", tmp_path / "s", "--json")
    found = json.loads(out)["splits"]["ladder"]["metrics"]
    assert code == 0 and found["accuracy"]["mean"] == pytest.approx(40 / 44, abs=1e-9)
    assert found["unparsed"]["mean"] == pytest.approx(4 / 44, abs=1e-9)


def test_questions_without_a_completion_are_told(run, prompts, tmp_path):
    path = complete(tmp_path / "done.jsonl", prompts[:30], right_replies()[:30])
    code, _, err = run("text", "submit", path, "--board", BOARD, "--out", tmp_path / "s", *SAID)
    assert code == 0 and "14 questions have no completion and count as wrong" in err
    left = ("text", "generate", "--board", BOARD, "--remaining", path)
    assert len(run(*left)[1].splitlines()) == 14


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda ids: [*ids, ids[0]], "a second completion of"),
        (lambda ids: ["v1_M4-K8-unique_h25_s0_ood-2000_told-0_7"], "is no question of sraven-text-small-v1"),
        (lambda ids: [ids[0], ids[1].replace("_told-0_", "_untold-0_")], "submit each form apart"),
        (lambda ids: ["mine"], "is no id that `sraven text generate` gives"),
        (lambda ids: [], "has no completions"),
    ],
)
def test_completions_of_other_questions_are_refused(run, prompts, tmp_path, change, message):
    ids = change([each["id"] for each in prompts])
    path = tmp_path / "done.jsonl"
    path.write_text("".join(json.dumps({"id": each, "completion": "x"}) + "\n" for each in ids))
    code, _, err = run("text", "submit", path, "--board", BOARD, "--out", tmp_path / "s", *SAID)
    assert code == 2 and message in err and len(err.splitlines()) == 1 and not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("text", "generate", "--board", BOARD, "--M", 3), "leave --M out"),
        (("text", "generate", "--board", BOARD, "--count", 3), "leave -n out"),
        (("text", "generate", "--board", BOARD, "--shots", 3), "has no form told-3-shot; it has"),
        (("text", "generate", "--board", "sraven-small-v1"), "asks nothing in words"),
        (("train", BOARD, "--attention", "hyla", "--steps", 1, "--out", "run"), "expected sraven"),
    ],
)
def test_what_a_board_of_texts_has_not_is_told_in_one_line(refused, line, message):
    assert message in refused(*line)


def test_board_and_its_standing_are_printed(run, done, tmp_path):
    out = done("boards", BOARD)
    assert "rungs=M1-K7 M2-K7 M3-K7 M2-K9" in out and "M=3, K=7" in out
    assert f"prompts: told-0-shot   {text_board().prompts['told-0-shot'][:12]}" in out
    assert "every instance is the board's" in run("boards", BOARD, "--check")[2]
    (tmp_path / "leaderboard").mkdir()
    assert run("reference", BOARD, "babbler", "--out", tmp_path / "babbler")[0] == 0
    assert run("submit", tmp_path / "babbler", "--leaderboard", tmp_path / "leaderboard")[0] == 0
    out = done("leaderboard", BOARD, "--leaderboard", tmp_path / "leaderboard")
    assert "unparsed" in out and "told-0-shot" in out and "1.0000" in out


# The second edition, with what replies took


@pytest.fixture
def second(run, tmp_path):
    assert run("text", "generate", "--board", SECOND, "--out", tmp_path / "second.jsonl")[0] == 0
    return [json.loads(line) for line in (tmp_path / "second.jsonl").read_text().splitlines()]


def write_completions(path, second, took):
    """Write right replies, every second one with a word behind it; the first ones say what they took."""
    lines = []
    for row, (each, reply) in enumerate(zip(second, right_replies(SECOND), strict=True)):
        usage = took[row] if row < len(took) else {}
        lines.append({"id": each["id"], "completion": f"{reply}, I think." if row % 2 else reply, **usage})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


TOOK = [
    {"usage": {"input_tokens": 300, "output_tokens": 1000, "total_tokens": 1300}, "cost": 0.25},
    {"usage": {"prompt_tokens": 310, "completion_tokens": 2000}, "cost": 1},
    {"usage": {"input_tokens": 300}, "cost": "much"},
    {"usage": {"input_tokens": -1, "output_tokens": True}, "cost": -1},
    {"usage": None, "cost": None},
]
"""The third one and those after it say nothing that counts."""


def test_levels_take_turns_in_the_file_and_in_what_is_left(run, second, tmp_path):
    levels = [each["id"].split("_")[1] for each in second]
    assert levels == ["M2-K7-unique", "M3-K7-unique", "M2-K9-unique", "M4-K7-unique"] * 11
    assert [each["index"] for each in second] == [index for index in range(11) for _ in range(4)]
    checksum = hashlib.sha256("".join(each["prompt"] + "\0" for each in second).encode()).hexdigest()
    assert checksum == text_board(SECOND).prompts["told-0-shot"]
    done = tmp_path / "done.jsonl"
    done.write_text("".join(json.dumps({"id": each["id"], "completion": ""}) + "\n" for each in second[:10]))
    left = run("text", "generate", "--board", SECOND, "--remaining", done)[1].splitlines()
    assert sorted(json.loads(line)["id"] for line in left) == sorted(each["id"] for each in second[10:])


def test_scores_tell_both_readings_and_what_replies_took(run, done, second, tmp_path):
    path = write_completions(tmp_path / "done.jsonl", second, TOOK)
    out = done("text", "score", path)
    assert out.count("read strictly") == 2 and "read leniently" not in out
    assert "tokens: 610 of prompts, 3,000 of replies (1,500 each), from 2 of 44 replies" in out
    assert "cost: 1.25 US dollars, from 2 of 44 replies" in out
    scores = json.loads(run("text", "score", path, "--json")[1])
    assert {score["lenient"]["target"]["value"] for score in scores} == {1}
    assert [score["target"]["value"] for score in scores] == [1, 0, 1, 0]
    sums = [score["usage"] for score in scores]
    assert sum(each["output_tokens"] for each in sums) == 3000 and sums[1]["cost_usd"] == 1


def test_submissions_are_ranked_by_the_lenient_reading(run, done, second, tmp_path):
    path = write_completions(tmp_path / "done.jsonl", second, TOOK)
    done("text", "submit", path, path, "--board", SECOND, "--out", tmp_path / "s", *SAID)
    found = json.loads(run("score", tmp_path / "s", "--json")[1])["splits"]["ladder"]["metrics"]
    assert (found["accuracy"]["mean"], found["accuracy_strict"]["mean"]) == (1, 0.5)
    said = yaml.safe_load((tmp_path / "s" / "submission.yaml").read_text())["replies"]
    usage = {"replies": 88, "with_tokens": 4, "input_tokens": 1220, "output_tokens": 6000}
    assert said["usage"] == {**usage, "with_cost": 4, "cost_usd": 2.5}

    (tmp_path / "leaderboard").mkdir()
    with_own = ("leaderboard", SECOND, "--leaderboard", tmp_path / "leaderboard", "--add", tmp_path / "s")
    out = done(*with_own)
    assert "read strictly" in out and "tokens a reply" in out and "1,500" in out
    [row] = json.loads(run(*with_own, "--json")[1])["rows"]
    assert (row["input_tokens"], row["output_tokens"], row["cost_usd"]) == (305, 1500, 0.625)
    assert run(*with_own, "--html", tmp_path / "page")[0] == 0
    page = (tmp_path / "page" / "index.html").read_text()
    assert "Read strictly" in page and "Tokens a reply" in page and "305 tokens of prompt, 1,500 of" in page


def test_cost_is_known_before_anything_is_sent(run, done, second, refused, tmp_path):
    estimated = sum(estimate_tokens(each["prompt"]) for each in second)
    out = done("text", "cost", "--board", SECOND)
    assert f"prompts: {estimated:,} tokens" in out and "44,000 tokens, 1,000 each" in out
    assert "price" not in out
    prices = ("--tokens-per-reply", 500, "--price-in", 2, "--price-out", 10, "--json")
    found = json.loads(run("text", "cost", "--board", SECOND, *prices)[1])
    assert found == {
        "board": SECOND,
        "questions": 44,
        "input_tokens": estimated,
        "estimated": True,
        "output_tokens": 22_000,
        "cost_usd": pytest.approx((2 * estimated + 220_000) / 1e6),
    }
    model = make_tokenizer(tmp_path / "pieces.model", [each["prompt"] for each in second])
    counted = sum(len(model.encode(each["prompt"])) for each in second)
    out = done("text", "cost", "--board", SECOND, "--tokenizer", tmp_path / "pieces.model")
    assert f"prompts: {counted:,} tokens" in out and "(by pieces.model)" in out
    (tmp_path / "bad.model").write_text("x")
    bad = ("text", "cost", "--board", SECOND, "--tokenizer", tmp_path / "bad.model")
    assert "is no tokenizer.json" in refused(*bad)
    assert "has no form told-3-shot" in refused("text", "cost", "--board", SECOND, "--shots", 3)


@pytest.mark.parametrize(("said", "tokens"), [("[3 6 2 0]", 9), ("Each panel.\n\nAnswer: [d d]", 9), ("", 0)])
def test_tokens_are_estimated_like_this(said, tokens):
    assert estimate_tokens(said) == tokens


def test_tokens_are_counted_by_a_tokenizer_of_hugging_face(done, second, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    words.save(str(tmp_path / "tokenizer.json"))
    counted = sum(len(each["prompt"].split()) for each in second)
    out = done("text", "cost", "--board", SECOND, "--tokenizer", tmp_path / "tokenizer.json")
    assert f"prompts: {counted:,} tokens" in out


def make_tokenizer(path, texts):
    """Write a small SentencePiece model, and return it."""
    sentencepiece = pytest.importorskip("sentencepiece")
    with path.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter("\n".join(texts).split("\n")),
            model_writer=file,
            vocab_size=100,
            hard_vocab_limit=False,
            minloglevel=2,
        )
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def test_a_board_in_turns_can_be_published(run, second, tmp_path):
    sets = read_sets(tmp_path / "second.jsonl")
    assert [find_question(each["id"])[0] for each in second[:4]] == list(sets)


def test_guesswork_is_advised_to_look_at_the_replies(done, second, tmp_path):
    """Replies come by id: their order isn't what may be wrong."""
    path = tmp_path / "done.jsonl"
    path.write_text("".join(json.dumps({"id": each["id"], "completion": "No."}) + "\n" for each in second))
    done("text", "submit", path, "--board", SECOND, "--out", tmp_path / "s", *SAID)
    (found,) = [
        each
        for each in json.loads(done("score", tmp_path / "s", "--json"))["unranked_because"]
        if "no better than chance" in each["reason"]
    ]
    assert "sraven text score" in found["advice"]
