"""Texts read from sources, and what is prepared of them."""

from baselines.lm.prepare import Preparation
from baselines.lm.records import read_records
from baselines.lm.sources import find_sources


def read(*patterns, skip=0, **more):
    return [
        (record.number, record.fault or record.text.decode())
        for source in find_sources([str(pattern) for pattern in patterns], **more)
        for record in read_records(source, skip)
    ]


def preparation_of(tokenizer, *patterns, **more):
    return Preparation(tuple(find_sources([str(pattern) for pattern in patterns])), tokenizer, **more)
