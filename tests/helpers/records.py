"""Texts read from sources, and what is prepared of them."""

import io
import json

import sentencepiece

from baselines.lm.prepare import Preparation
from baselines.lm.sources import find_sources, read_documents
from baselines.lm.tokenizer import Tokenizer


def write_jsonl(path, texts):
    """Write documents as C4 has them."""
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def read(*patterns):
    return [
        (number, text.decode())
        for source in find_sources([str(pattern) for pattern in patterns])
        for number, text in read_documents(source)
    ]


def preparation_of(tokenizer, *patterns, **more):
    return Preparation(tuple(find_sources([str(pattern) for pattern in patterns])), tokenizer, **more)


def train_tokenizer(texts, vocab_size, **options):
    """Return a tokenizer of lines, the same for the same ones, with the ids of NanoDO's special tokens."""
    options = {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3, "byte_fallback": True, **options}
    settings, model = {"vocab_size": vocab_size, "num_threads": 1, "minloglevel": 2, **options}, io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=model, **settings)
    return Tokenizer(model.getvalue(), "trained")
