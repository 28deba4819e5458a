"""`docs/language-models.md`: prompts as they are, and a recipe that works against an endpoint."""

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import entry_points
from pathlib import Path
from threading import Thread

import pytest

from helpers.checkout import REPOSITORY
from helpers.command import sraven
from helpers.scripted_models import oracle
from sraven.harness.questions import make_questions, pose

PAGE = (REPOSITORY / "docs" / "language-models.md").read_text()


@pytest.mark.parametrize("options", [{"form": "told"}, {"form": "untold", "shots": 1}], ids=str)
def test_prompts_are_shown_as_they_are(options):
    prompt = next(pose(make_questions(M=2, **options))).prompt
    assert f"```text\n{prompt}\n```" in PAGE


def test_the_first_question_of_version_2_is_shown_as_it_is():
    prompt = next(pose(make_questions(M=2, form="told2"))).prompt
    assert f"```text\n{prompt}\n```" in (REPOSITORY / "docs" / "text.md").read_text()


class Endpoint(BaseHTTPRequestHandler):
    """Speaks as much of OpenAI's protocol as it takes, for the scripted oracle."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = self.path == "/v1/chat/completions" and self.headers["Authorization"] == "Bearer secret"
        assert known and asked["model"] == "scripted" and asked["temperature"] == 0
        said = {"role": "assistant", "content": oracle(asked["messages"][-1]["content"])}
        usage = {"prompt_tokens": 200, "completion_tokens": 9, "total_tokens": 209}
        body = json.dumps({"choices": [{"index": 0, "message": said}], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Say nothing."""


@pytest.fixture
def url():
    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_the_recipe_for_an_endpoint(url, tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    names = {}
    exec(re.search(r"^```python\n(import json\n.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[1], names)
    prompts, completions = tmp_path / "prompts.jsonl", tmp_path / "completions.jsonl"
    asked = ("--M", 2, "-n", 20)
    assert sraven("text", "generate", *asked, "--out", prompts)[0] == 0
    whole = prompts.read_text()
    prompts.write_text("".join(whole.splitlines(keepends=True)[:7]))
    endpoint = {"url": url, "model": "scripted", "key": "secret", "temperature": 0}
    names["complete_all"](prompts, completions, **endpoint)
    _, rest, _ = sraven("text", "generate", *asked, "--remaining", completions)
    prompts.write_text(rest)
    names["complete_all"](prompts, completions, **endpoint)
    code, out, _ = sraven("text", "score", completions, "--json")
    [score] = json.loads(out)
    assert code == 0 and (score["n"], score["missing"], score["target"]["value"]) == (20, 0, 1)
    assert (score["usage"]["with_tokens"], score["usage"]["output_tokens"]) == (20, 180)


def test_what_the_harnesses_look_for_is_there():
    [found] = entry_points(group="inspect_ai", name="sraven")
    assert found.value == "sraven.harness.inspect_task"
    folder = Path(sraven("text", "tasks")[1].rstrip("\n"))
    assert {path.name for path in folder.glob("_*") if path.is_file()} == {"_generate"}
    assert (folder / "functions.py").is_file() and len(list(folder.glob("*.yaml"))) == 4
