"""The manifest of a dataset as a dataset card (README.md) and as Croissant metadata."""

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np
import yaml

from sraven.core.roles import Arrays, Column, Description, Task
from sraven.core.spec import canonical_json, digest
from sraven.core.versions import VERSIONS
from sraven.data.manifest import CARD, CROISSANT, inner_cards
from sraven.files.files import json_text

Manifest = Mapping[str, Any]

LICENSE = "apache-2.0"
PAPER_URL = "https://arxiv.org/abs/2406.05816"

CITATION = """\
@inproceedings{schug2025attention,
  title     = {Attention as a Hypernetwork},
  author    = {Schug, Simon and Kobayashi, Seijin and Akram, Yassir and Sacramento, Jo{\\~a}o
               and Pascanu, Razvan},
  booktitle = {International Conference on Learning Representations},
  year      = {2025},
  url       = {https://arxiv.org/abs/2406.05816}
}"""

_CROISSANT_TYPES = {
    f"{kind.lower()}{bits}": f"cr:{kind}{bits}"
    for kind in ("UInt", "Int", "Float")
    for bits in (8, 16, 32, 64)
}

_TEMPLATES = files("sraven.data") / "templates"


def _dataset_version(task: Task) -> str:
    """Return the version of a dataset, of three numbers as card and Croissant file want it."""
    return f"{task.version}.0.0"


def _describe(task: Task, manifest: Manifest) -> Description:
    tallies: dict[str, Arrays] = {
        split: {name: np.array(tally) for name, tally in content["tallies"].items()}
        for split, content in manifest["splits"].items()
    }
    return task.rows.describe(tallies)


def size_category(n: int) -> str:
    """Return the Hub's category for a number of examples."""
    names = ["n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "n>1B"]
    return names[min(max(len(str(n)) - 3, 0), len(names) - 1)]


def _feature(column: Column) -> dict[str, Any]:
    if not column.shape:
        return {"name": column.name, "dtype": column.dtype}
    return {"name": column.name, "list": column.dtype, "length": int(np.prod(column.shape))}


def _front_matter(task: Task, manifest: Manifest, description: Description, folder: str) -> str:
    name, suffix = manifest["config_name"], manifest["file_format"]
    splits = manifest["splits"]
    content = {
        "pretty_name": description.title,
        "license": LICENSE,
        "annotations_creators": ["machine-generated"],
        "source_datasets": ["original"],
        "tags": list(description.keywords),
        "size_categories": [size_category(sum(split["num_examples"] for split in splits.values()))],
        "configs": [
            {
                "config_name": name,
                "default": True,
                "version": _dataset_version(task),
                # datasets keys its cache by this text: without it, data rewritten in place would
                # be served stale.
                "description": f"sha256:{digest(manifest)}",
                "data_files": [{"split": split, "path": f"{folder}{split}-*.{suffix}"} for split in splits],
            }
        ],
        "dataset_info": [
            {
                "config_name": name,
                "features": [_feature(column) for column in task.rows.columns],
                "splits": [
                    {"name": name, "num_bytes": each["memory_bytes"], "num_examples": each["num_examples"]}
                    for name, each in splits.items()
                ],
            }
        ],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


def render_card(task: Task, manifest: Manifest) -> str:
    """Return the dataset card: front matter from which `datasets` loads, then prose."""
    description = _describe(task, manifest)
    splits = "\n".join(
        f"| `{name}` | {split['num_examples']:,} | {len(split['shards'])} | `{split['digest']}` |"
        for name, split in manifest["splits"].items()
    )
    columns = "\n".join(
        f"| `{each.name}` | {each.dtype} | {' × '.join(map(str, each.shape)) or 'one'} | {each.meaning} |"
        for each in task.rows.columns
    )
    return (
        (_TEMPLATES / "card.md")
        .read_text("utf-8")
        .format(
            front=_front_matter(task, manifest, description, f"{manifest['config_name']}/"),
            description=description,
            paper=PAPER_URL,
            task=task,
            config=canonical_json(manifest["config"]),
            first=next(iter(manifest["splits"])),
            splits=splits,
            columns=columns,
            citation=CITATION,
        )
    )


def _render_inner_card(task: Task, manifest: Manifest) -> str:
    """Return the card beside the shards, without which `datasets` finds splits of usual names alone."""
    front = _front_matter(task, manifest, _describe(task, manifest), "")
    return f"---\n{front}---\n\nThe folder above holds the dataset, its card and its manifest.\n"


def render_croissant(task: Task, manifest: Manifest) -> dict[str, Any]:
    """Return the dataset's Croissant 1.1 metadata; a template has what is the same for all datasets."""
    description = _describe(task, manifest)
    name, suffix = manifest["config_name"], manifest["file_format"]
    media_type = {"parquet": "application/x-parquet", "arrow": "application/vnd.apache.arrow.stream"}[suffix]
    file_objects = [
        {
            "@type": "cr:FileObject",
            "@id": shard["path"],
            "name": shard["path"].rsplit("/", 1)[1],
            "contentUrl": shard["path"],
            "contentSize": f"{shard['num_bytes']} B",
            "encodingFormat": media_type,
            "sha256": shard["sha256"],
        }
        for split in manifest["splits"].values()
        for shard in split["shards"]
    ]
    file_sets = [
        {
            "@type": "cr:FileSet",
            "@id": f"{split}-files",
            "name": f"{split}-files",
            "description": f"The files of split {split}.",
            "encodingFormat": media_type,
            "includes": f"{name}/{split}-*.{suffix}",
        }
        for split in manifest["splits"]
    ]
    content = json.loads((_TEMPLATES / "croissant.json").read_text("utf-8"))
    [names] = content["recordSet"]
    kinds = {split: "Training" if split == "train" else "Test" for split in manifest["splits"]}
    names["data"] = [
        {"splits/name": split, "splits/url": f"{content['@context']['cr']}{kind}Split"}
        for split, kind in kinds.items()
    ]
    return {
        **content,
        "name": re.sub(r"\W", "_", f"{manifest['config']['task']}_{name}"),
        "description": f"{description.summary} Configuration: {canonical_json(manifest['config'])}",
        "version": _dataset_version(task),
        "datePublished": VERSIONS[task.version],
        "citeAs": CITATION,
        "keywords": list(description.keywords),
        "rai:dataLimitations": description.limitations,
        "rai:dataBiases": description.biases,
        "rai:dataUseCases": description.uses,
        "distribution": [*file_objects, *file_sets],
        "recordSet": [names, *(_record_set(task, split) for split in manifest["splits"])],
    }


def describing_files(task: Task, manifest: Manifest) -> dict[str, str]:
    """Return the texts of the files that follow from a manifest, by path: cards and Croissant file."""
    return {
        CARD: render_card(task, manifest),
        CROISSANT: json_text(render_croissant(task, manifest)),
        **{path: _render_inner_card(task, manifest) for path in inner_cards(manifest)},
    }


def _record_set(task: Task, split: str) -> dict[str, Any]:
    def field(column: Column) -> dict[str, Any]:
        content: dict[str, Any] = {
            "@type": "cr:Field",
            "@id": f"{split}/{column.name}",
            "name": column.name,
            "description": f"{column.meaning[0].upper()}{column.meaning[1:]}.",
            "dataType": _CROISSANT_TYPES[column.dtype],
            "source": {"fileSet": {"@id": f"{split}-files"}, "extract": {"column": column.name}},
        }
        if column.shape:
            content |= {"isArray": True, "arrayShape": str(int(np.prod(column.shape)))}
        return content

    return {
        "@type": "cr:RecordSet",
        "@id": split,
        "name": split,
        "description": f"The instances of split {split}.",
        "key": {"@id": f"{split}/index"},
        "field": [field(column) for column in task.rows.columns],
    }
