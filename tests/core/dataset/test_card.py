"""The dataset card and the Croissant file."""

import json
import re

import pytest
import yaml

from fuzzylogic import FuzzyLogic
from sraven import SRAVEN
from sraven.core.base.spec import canonical_json, digest
from sraven.core.dataset.write import write_dataset


@pytest.fixture(scope="module")
def unique_directory(tmp_path_factory):
    out = tmp_path_factory.mktemp("unique") / "raven"
    write_dataset(SRAVEN(M=3, K=5, holdout=0.3, answers="unique"), {"train": 4_000, "ood": 400}, out)
    return out


# mlcroissant's own dependencies warn of what they will drop.
lenient = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@lenient
def test_croissant_file_of_arrow_streams_is_valid(task, tmp_path):
    import mlcroissant

    write_dataset(task, {"train": 300, "ood": 200}, tmp_path / "raven", file_format="arrow")
    issues = mlcroissant.Dataset(jsonld=tmp_path / "raven" / "croissant.json").metadata.ctx.issues
    assert not issues.errors and not issues.warnings


@lenient
def test_croissant_file_names_every_type_that_columns_have(tmp_path):
    import mlcroissant

    task = FuzzyLogic(L=9, K=1, N=3, holdout=0)  # has more terms than uint8 can number
    write_dataset(task, {"train": 30}, tmp_path / "fuzzy")
    content = json.loads((tmp_path / "fuzzy" / "croissant.json").read_text())
    types = {
        field["name"]: field["dataType"] for records in content["recordSet"] for field in records["field"]
    }
    assert types["terms"] == "cr:UInt16" and task.columns[3].dtype == "uint16"
    assert not mlcroissant.Dataset(jsonld=tmp_path / "fuzzy" / "croissant.json").metadata.ctx.issues.errors


@lenient
def test_croissant_records_are_the_rows(task, dataset_directory):
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=dataset_directory / "croissant.json")
    records = iter(dataset.records("ood"))
    batch = task.sample("ood", 0, 3)
    for n in range(3):
        record = next(records)
        assert record["ood/index"] == n
        assert list(record["ood/context"]) == batch.context[n].reshape(-1).tolist()


def test_croissant_file_says_what_reviewers_ask(dataset_directory):
    content = json.loads((dataset_directory / "croissant.json").read_text())
    assert content["rai:hasSyntheticData"] is True
    asked = "Limitations Biases UseCases SocialImpact Collection"
    for name in ("personalSensitiveInformation", *(f"data{each}" for each in asked.split())):
        assert len(content[f"rai:{name}"]) > 20


def front_matter(directory):
    return yaml.safe_load((directory / "README.md").read_text().split("---\n")[1])


def test_card_names_the_digest_of_the_manifest(dataset_directory):
    manifest = json.loads((dataset_directory / "manifest.json").read_text())
    assert front_matter(dataset_directory)["configs"][0]["description"] == f"sha256:{digest(manifest)}"


def test_card_states_configuration_counts_and_ambiguity(task, dataset_directory):
    card = (dataset_directory / "README.md").read_text()
    manifest = json.loads((dataset_directory / "manifest.json").read_text())
    assert canonical_json(task.config) in card
    for name, split in manifest["splits"].items():
        n, unique = split["num_examples"], sum(split["tallies"]["unique"])
        assert f"| `{name}` | {n:,} | {n - unique:,} | {(n - unique) / n:.2%} | 1.000 |" in card
        assert split["digest"] in card


def test_card_of_unique_instances_states_acceptance_by_multiset(unique_directory):
    card = (unique_directory / "README.md").read_text()
    splits = json.loads((unique_directory / "manifest.json").read_text())["splits"].values()
    rows = dict(re.findall(r"^\| (\d+) \| [\d ]+ \| [\d,]+ \| ([\d.]+) \|$", card, re.MULTILINE))
    assert len(rows) == 120  # all multisets of three rules
    for row, rate in rows.items():
        proposals = sum(split["tallies"]["proposals"][int(row)] for split in splits)
        unique = sum(split["tallies"]["unique"][int(row)] for split in splits)
        assert rate == f"{unique / proposals:.4f}"


def test_card_of_unique_instances_states_how_rules_shift(unique_directory):
    card = (unique_directory / "README.md").read_text()
    shares = [line.split("|")[4:6] for line in card.splitlines() if re.match(r"\| [0-7] \| [a-z]", line)]
    assert len(shares) == 8
    assert any(abs(float(drawn) - float(kept)) > 0.005 for drawn, kept in shares)
