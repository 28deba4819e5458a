"""Texts read from one source."""

from baselines.lm.records import read_records
from baselines.lm.sources import find_sources


def read(*patterns, skip=0, **more):
    return [
        (record.number, record.fault or record.text.decode())
        for source in find_sources([str(pattern) for pattern in patterns], **more)
        for record in read_records(source, skip)
    ]
