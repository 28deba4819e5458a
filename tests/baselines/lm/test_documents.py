"""Evaluation batches: every token but BOS is a target once, and every byte is counted once."""

import numpy as np
import pytest

from baselines.lm.corpus import Corpus
from baselines.lm.documents import Documents
from baselines.lm.share import BatchShare


@pytest.fixture(scope="module")
def corpus(directory):
    return Corpus(directory)


@pytest.mark.parametrize("length", [1, 4, 1000])
def test_documents_in_order(corpus, length):
    documents = Documents(corpus, length, BatchShare(5))
    batches = [documents.batch(step) for step in range(documents.steps)]
    each_row = (
        row for batch in batches for row in zip(batch.tokens, batch.mask, batch.document, strict=True)
    )
    rows = [row for row in each_row if row[2] >= 0]
    for index, entry in enumerate(corpus.read_documents()):
        whole = corpus.read(int(entry["start"]), int(entry["tokens"]))
        own = [(tokens, mask) for tokens, mask, document in rows if document == index]
        np.testing.assert_array_equal(np.concatenate([tokens[1:][mask] for tokens, mask in own]), whole[1:])
        assert [int(tokens[0]) for tokens, _ in own] == whole[:-1:length].tolist()
    assert [document for *_, document in rows] == sorted(document for *_, document in rows)
    assert sum(int(batch.text_bytes.sum()) for batch in batches) == corpus.text_bytes
    assert sum(int(batch.targets.sum()) for batch in batches) == corpus.tokens - corpus.documents
    assert all((batch.mask.sum(1) == batch.targets).all() for batch in batches)
    assert all((batch.tokens[:, 1:][~batch.mask] == 0).all() for batch in batches)
    if length == 1000:  # rows fill the last batch
        last = batches[-1]
        assert documents.pieces == 29 and last.document.tolist() == [25, 26, 27, 28, -1]
        assert last.targets[-1] == last.text_bytes[-1] == 0 and not last.mask[-1].any()


def test_same_batch_for_any_number_of_processes(corpus):
    whole = Documents(corpus, 4, BatchShare(6)).batch(2)
    parts = [Documents(corpus, 4, BatchShare(6, process, 3)).batch(2) for process in range(3)]
    for name, values in vars(whole).items():
        np.testing.assert_array_equal(np.concatenate([vars(part)[name] for part in parts]), values)
