"""Texts read from sources, and what is prepared of them."""

import json

from baselines.lm.prepare import Preparation
from baselines.lm.sources import find_sources, read_documents


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
