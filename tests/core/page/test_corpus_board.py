"""A board of a corpus on the page: tokens and documents, no ceiling, and what self-reported means."""

from helpers.page import corpus_page, example_page, page_of, panels_of, rows_of


def test_board_of_a_corpus_counts_tokens_and_has_no_ceiling():
    page = corpus_page()
    text = page.text.replace("\u00a0", " ")
    assert (
        "Ranked by loss per token on validation Budget 130 B training tokens Documents 364,608 validation "
        "Setting dataset=allenai/c4, configuration=en, split=validation, documents=364608, "
        "tokenizer_sha256=15d8dfa11996…, pieces=32101 Digest"
    ) in text
    for word in ("Trained on up to 130 B tokens", "Trained on more than 130 B tokens"):
        assert word in text
    headings = [attributes["class"] for attributes, _ in page.find("th", scope="col")]
    assert headings == ["rank", "method", "badge-cell", "primary", "parameters", "instances", "date", "links"]
    [(_, label)] = page.find("th", scope="col", class_="instances")
    [(_, best)] = page.find("th", aria_sort="ascending")
    assert (label, best) == ("Tokens", "Loss per token, validation")
    assert not page.find("polyline", class_="ceiling")


def test_self_reported_rows_say_so_and_name_their_documents():
    page = corpus_page()
    badges = [row["data-badge"] for row in rows_of(page)]
    assert badges == ["self-reported", "reproduced", "self-reported", "self-reported"]
    shown = [text for a, text in page.find("code", title="0123456789abcdef" * 4)]
    assert shown == ["0123456789ab"] * 4
    assert "Fingerprint of its documents" not in example_page().text


def test_page_says_what_a_board_of_a_corpus_is_where_there_is_one():
    assert "c4-v1 is about language models instead" in corpus_page().text
    for page in (example_page(), page_of()):
        assert "language models" not in page.text and "can’t be recomputed here." in page.text


def test_plots_of_a_loss_say_that_lower_is_better():
    page = corpus_page()
    [panel] = panels_of(page)  # all have as many parameters
    assert panel["aria-label"].startswith("Loss per token on validation against training tokens (lower is ")
    kinds = [attributes["class"] for attributes, _ in page.find("g") if "data-entry" in attributes]
    other = ["point other self-reported"] * 2
    assert sorted(kinds) == ["point hyla self-reported", *other, "point softmax reproduced"]
    titles = [text for _, text in page.find("title")]
    assert "short: 3.6000\u00a0±\u00a00.0100 (self-reported); training tokens: 20,000,000,000" in titles
