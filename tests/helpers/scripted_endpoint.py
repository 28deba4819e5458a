"""An endpoint that is a script: it is slow, busy, broken, truncates, refuses, cuts connections."""

import json
from collections import Counter

import httpx

from helpers.scripted_models import oracle


def chat(text, finish="stop", **message):
    """Return a reply of the interface chat."""
    said = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 200, "completion_tokens": 10, "total_tokens": 210}
    return httpx.Response(200, json={"choices": [said], "usage": usage, "model": "scripted-2026-11"})


def fail(error):
    raise error


def rename(prompt, asked):
    known = "max_completion_tokens" in asked
    return chat(oracle(prompt)) if known else httpx.Response(400, text="use max_completion_tokens")


DEEDS = {
    "right": lambda prompt, asked: chat(oracle(prompt)),
    "slow": lambda prompt, asked: fail(httpx.ReadTimeout("nothing comes")),
    "busy": lambda prompt, asked: httpx.Response(429, text="slow down", headers={"Retry-After": "0"}),
    "broken": lambda prompt, asked: httpx.Response(503, text="<html>be back soon</html>"),
    "dropped": lambda prompt, asked: fail(httpx.RemoteProtocolError("the line is cut")),
    "half": lambda prompt, asked: httpx.Response(200, text='{"choices": [{"message": {"content": "Ans'),
    "page": lambda prompt, asked: httpx.Response(200, text="<html>log in first</html>"),
    "parts": lambda prompt, asked: chat([{"type": "text", "text": oracle(prompt)}]),
    "truncated": lambda prompt, asked: chat("By the rules of", "length"),
    "thoughts": lambda prompt, asked: chat(None, "length"),
    "refused": lambda prompt, asked: chat(None, "stop", refusal="I won't."),
    "filtered": lambda prompt, asked: httpx.Response(400, json={"error": {"code": "content_filter"}}),
    "bad": lambda prompt, asked: httpx.Response(400, json={"error": {"message": "your prompt is flagged"}}),
    "renamed": rename,
}
"""What an endpoint may do."""


class Endpoint:
    """Answers as the script of a prompt says, by names of deeds or functions; it has all that was asked."""

    def __init__(self):
        self.scripts, self.usual, self.key = {}, ("right",), "secret"
        self.asked, self.urls, self.tries = [], [], Counter()

    def answer(self, request):
        asked = json.loads(request.content)
        prompt = asked["messages"][-1]["content"]
        self.asked.append(asked)
        self.urls.append(str(request.url))
        script = self.scripts.get(prompt, self.usual)
        deed = script[min(self.tries[prompt], len(script) - 1)]
        self.tries[prompt] += 1
        if self.key not in " ".join(request.headers.values()):
            return httpx.Response(401, text="who are you?")
        return DEEDS.get(deed, deed)(prompt, asked)
