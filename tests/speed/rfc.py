r"""Figure 6 in small: three attentions on RFCs, text that packages of Debian have.

    apt-get download doc-rfc-informational doc-rfc-experimental       # of Debian's non-free
    for package in doc-rfc-*.deb; do dpkg-deb -x $package packages; done
    python tests/speed/rfc.py documents packages/usr/share/doc/RFC sraven-rfc
    prepare() { sraven c4 prepare --source sraven-rfc/$1.jsonl.gz --tokenizer $2 --out sraven-rfc/$1; }
    prepare informational train:4096
    prepare experimental sraven-rfc/informational/tokenizer.model
    prepare validation sraven-rfc/informational/tokenizer.model
    train() {
      sraven train c4-v1 --size tiny --batch-size 16 --steps 10000 --warmup 200 --learning-rate 3e-3 \
        --data sraven-rfc/informational --data sraven-rfc/experimental \
        --validation sraven-rfc/validation --score-every 500 --attention $1 --out sraven-rfc/runs/$1-0 $2
    }
    train softmax; train linear; train hyla --tile=32
    python tests/speed/rfc.py docs/results/language-model.json sraven-rfc

A document is a page of an RFC. RFCs whose numbers 50 divides are for validation; intervals are over resampled
RFCs. Tokens in folders below `others` are evaluated, too, with intervals over documents. An RFC may be copied
and distributed unchanged (RFC Editor, "Copyrights and Patent Rights in RFCs"); none is part of this project.
"""

import gzip
import json
import re
import sys
from pathlib import Path

import numpy as np
from record import recorded

from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import document_losses, mean_losses, unigram_entropy
from baselines.lm.session import load_language_run

KINDS = ("informational", "experimental")
RUNNING_LINES = re.compile(r"\[Page \w+\]$|^RFC \d+ .* \d{4}$")
DISCOUNT = 0.75
DRAWS = 4000


def pages_of(path):
    """Yield the pages of an RFC without the lines that all of them have."""
    for page in gzip.decompress(path.read_bytes()).decode(errors="replace").split("\f"):
        lines = [line for line in page.splitlines() if not RUNNING_LINES.search(line.rstrip())]
        if text := "\n".join(lines).strip():
            yield text


def documents(folder, out):
    """Write the pages of unpacked RFCs as C4 has its documents: a line of JSON each."""
    Path(out).mkdir(parents=True, exist_ok=True)
    with gzip.open(Path(out, "validation.jsonl.gz"), "wt", encoding="utf-8") as held_out:
        for kind in KINDS:
            with gzip.open(Path(out, f"{kind}.jsonl.gz"), "wt", encoding="utf-8") as train:
                for path in sorted(Path(folder, kind).glob("rfc*.txt.gz")):
                    number = int(re.match(r"rfc(\d+)", path.name)[1])
                    for text in pages_of(path):
                        line = json.dumps({"text": text, "rfc": number}) + "\n"
                        (train if number % 50 else held_out).write(line)


def pairs_of(corpus, piece=1 << 22):
    """Yield the pairs of neighbours of a corpus, but for those across documents."""
    for start in range(0, corpus.tokens - 1, piece):
        tokens = corpus.read(start, min(piece + 1, corpus.tokens - start)).astype(np.int64)
        real = tokens[1:] != corpus.tokenizer["bos"]
        yield tokens[:-1][real], tokens[1:][real]


def bigram_of(corpus):
    """Return log p(token | the one before), ``[pieces, pieces]``.

    Counts are discounted, and what that spares goes by how frequent a token is.
    """
    size = corpus.tokenizer["pieces"]
    counts = np.zeros(size * size)
    for first, second in pairs_of(corpus):
        counts += np.bincount(first * size + second, minlength=size * size)
    counts = counts.reshape(size, size)
    frequency = (counts.sum(axis=0) + 1) / (counts.sum() + size)
    seen = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    spared = 1 - np.maximum(counts - DISCOUNT, 0).sum(axis=1, keepdims=True) / seen
    return np.log(np.maximum(counts - DISCOUNT, 0) / seen + spared * frequency)


def intervals(losses, targets, groups):
    """Return the interval of each mean loss, and of how much it is above the first, over resampled groups."""
    number = np.unique(groups, return_inverse=True)[1]
    per_group = {name: np.bincount(number, each) for name, each in losses.items()}
    tokens = np.bincount(number, targets)
    draws = np.random.default_rng(0).multinomial(len(tokens), np.full(len(tokens), 1 / len(tokens)), DRAWS)
    means = {name: draws @ each / (draws @ tokens) for name, each in per_group.items()}
    first = next(iter(means.values()))

    def ends(values):
        return np.quantile(values, (0.025, 0.975)).round(4).tolist()

    return {name: {"interval": ends(each), "above_first": ends(each - first)} for name, each in means.items()}


def losses(folder):
    """Evaluate the runs and a bigram on documents that none was trained on."""
    folder, found = Path(folder), {}
    train = Corpus(*(folder / kind for kind in KINDS))
    bigram = bigram_of(train)
    runs = {path.parent.name: path.parent for path in sorted(folder.glob("runs/*/result.json"))}
    with gzip.open(folder / "validation.jsonl.gz", "rt", encoding="utf-8") as lines:
        rfcs = np.array([json.loads(line)["rfc"] for line in lines])
    for path in [folder / "validation", *sorted(folder.glob("others/*"))]:
        corpus = Corpus(path)
        table = corpus.read_documents()
        each = {name: document_losses(*load_language_run(run), corpus) for name, run in runs.items()}
        means = {name: mean_losses(value) for name, value in each.items()}
        per_document = {name: value.loss for name, value in each.items()}
        per_document["bigram"] = np.array(
            [
                -bigram[tokens[:-1], tokens[1:]].sum()
                for start, count in zip(table["start"], table["tokens"], strict=True)
                for tokens in [corpus.read(int(start), int(count)).astype(np.int64)]
            ]
        )
        targets = table["tokens"] - 1
        loss = per_document["bigram"].sum() / targets.sum()
        means["bigram"] = {"loss": float(loss), "perplexity": float(np.exp(loss))}
        groups = rfcs[table["record"] - 1] if path.name == "validation" else np.arange(len(table))
        ends = intervals(per_document, targets, groups)
        found[path.name] = {
            "groups": len(np.unique(groups)),
            "unigram_entropy": unigram_entropy(corpus),
            **{name: {**means[name], **ends[name]} for name in means},
        }
        print(json.dumps(found[path.name], indent=1), flush=True)
    trained = {
        name: {
            **{key: result[key] for key in ("command", "commit", "seconds") if key in result},
            "log": [
                [line["step"], round(line["loss"], 4), round(line["scores"]["validation"]["loss"], 4)]
                for line in log
                if "scores" in line
            ],
        }
        for name, run in runs.items()
        for result in [json.loads((run / "result.json").read_text())]
        for log in [[json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]]
    }
    text = {"documents": train.documents, "tokens": train.tokens}
    return {"train": text, "runs": trained, "held_out": found}


if __name__ == "__main__":
    if sys.argv[1] == "documents":
        documents(*sys.argv[2:])
    else:
        recorded(losses)
