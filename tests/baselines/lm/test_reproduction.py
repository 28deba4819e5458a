"""Figure 6: its cells on text that is there, their records by the loss on documents, and its page."""

from functools import cached_property

import pytest

from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import document_losses, mean_losses
from baselines.lm.recipes import make_language_config
from baselines.lm.session import load_language_run
from baselines.lm.train import Text
from baselines.paper.adopt import adopt, record_of
from baselines.paper.cells import NO_CORPUS, as_planned, cells_of, homes_of
from baselines.paper.figures import FIGURES, Figure, Row
from baselines.paper.pages import pages_of
from baselines.paper.records import path_of, read_record, read_records
from baselines.paper.results import standings_of
from baselines.paper.run import folder_of, run_cells
from baselines.session import ScoringOptions
from baselines.train.result import read_result
from helpers.refusals import assert_refused
from helpers.tiny_language import SOFTMAX, TINY, TRAINING, VALIDATION, assert_command_refused
from sraven.core.errors import ConfigurationError, OutputError

SHAPE = {name: value for name, value in TINY.items() if name not in ("steps", "warmup", "learning_rate")}
STEPS = TINY["steps"]


class Quick(Figure):
    """A figure whose tiny runs get through their warm-up."""

    @cached_property
    def points(self):
        return tuple({**point, "warmup": 1} for point in super().points)


ROWS = tuple(
    Row("c4-v1", {"attention": name}, {"attention": name, "dtype": "float32", **SHAPE})
    for name in ("softmax", "linear")
)
FIGURE = Quick("tiny", "Figure 6, tiny", "c4", ROWS, seeds=(0,))
ALL = {"tiny": FIGURE}


@pytest.fixture(scope="module")
def text(language):
    return Text((language / TRAINING,), (language / VALIDATION,))


@pytest.fixture(scope="module")
def trained(text, tmp_path_factory):
    """A folder with the run of softmax at a short level, and its record."""
    folder = tmp_path_factory.mktemp("figure")
    (cell, _) = cells_of(FIGURE, steps=STEPS, points=FIGURE.points[:1])
    options = {"text": text, "scoring": ScoringOptions(every=0), "figures": ALL}
    progress = run_cells([cell], folder / "runs", folder / "results", **options)
    assert run_cells([cell], folder / "runs", folder / "results", **options) == ((), (), 0)
    return folder, read_record(progress.records[0])


def test_a_cell_is_trained_on_the_text_and_scored_by_the_documents(trained, text):
    folder, record = trained
    corpus, documents = Corpus(*text.data), Corpus(*text.validation)
    assert (record.text, record.documents) == (corpus.digest, documents.digest)
    assert record.config.vocabulary == corpus.tokenizer["pieces"]
    run = folder_of(folder / "runs", record.config)
    means = mean_losses(document_losses(*load_language_run(run), documents))
    names = ("loss", "perplexity", "bits_per_byte")
    assert record.scores == {"validation": pytest.approx({name: means[name] for name in names})}
    assert record.command.endswith("--data TOKENS --seeds 0")
    assert record.training_loss == read_result(run)["loss"]["mean"]


def test_a_record_belongs_to_its_cell_whatever_the_text(trained, text):
    _, record = trained
    planned = as_planned(record.config)
    assert (planned.corpus, planned.vocabulary) == (NO_CORPUS, 32101)
    assert planned in [cell.config for cell in cells_of(FIGURE, steps=STEPS)]
    config = make_language_config(Corpus(*text.data), "hyla")
    assert as_planned(config) in [cell.config for cell in cells_of(FIGURES["figure-6"])]
    assert homes_of(record.config, ALL) == ["tiny"] and homes_of(record.config, FIGURES) == []


def test_the_page_shows_the_loss_on_the_documents_and_which_text_it_is(trained):
    folder, record = trained
    results = folder / "results"
    page = pages_of(standings_of(results, figures=ALL), results)[results / "tiny.md"]
    full, short = page.split(f"## {STEPS} steps")
    assert "**0 of 2 runs, full length**" in full and "yet: 2 of 2 rows." in full
    assert f"Trained on the text `{record.text[:9]}`" in short
    loss = record.scores["validation"]["loss"]
    assert f"| softmax | 1/1 | {loss:.3f} | {record.training_loss:.5f} | 1/4 |" in short
    assert "sraven reproduce --run tiny --tokens TOKENS --validation DOCUMENTS" in page


def test_a_run_is_adopted_with_documents_to_score_it_by(trained, text, tmp_path):
    folder, record = trained
    run = folder_of(folder / "runs", record.config)
    path, _ = adopt(run, tmp_path, figures=ALL, documents=text.data)
    other = read_record(path)
    assert other.documents == other.text == record.text
    assert other.scores["validation"]["loss"] != record.scores["validation"]["loss"]
    path.unlink()
    assert adopt(run, tmp_path, figures=ALL, documents=text.validation) == (path, True)
    assert read_records(tmp_path) == {record.digest: record}
    assert path == path_of(tmp_path, "tiny", record.config)
    assert_refused("language model; name documents to score it by, --valid", record_of, run)


def test_what_is_lacking_is_reported_before_anything_is_trained(language, text, tmp_path):
    (cell, _) = cells_of(FIGURE, steps=STEPS, points=FIGURE.points[:1])
    for lacking in (None, Text(text.data), Text((), text.validation)):
        with pytest.raises(ConfigurationError, match=r"name its tokens by --tokens DIR, and documents"):
            run_cells([cell], tmp_path / "runs", tmp_path, text=lacking, figures=ALL)
    assert_refused("is no cell", adopt, language / SOFTMAX, tmp_path, error=OutputError)
    line = ["reproduce", "--run", "figure-6", "--tokens", tmp_path, "--results", tmp_path]
    assert_command_refused(tmp_path, "--validation DIR; `sraven c4 prepare` makes both", *line)
    assert_command_refused(tmp_path, "", *line, "--validation", tmp_path)
    assert list(tmp_path.iterdir()) == []
