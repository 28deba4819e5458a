"""An endpoint on loopback that speaks OpenAI's protocol, and misbehaves as it is told to."""

import json
import socket
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread

from helpers.scripted_models import oracle

CHAT = "/v1/chat/completions"


def chat(text, finish="stop", **message):
    """Return a reply of the interface chat."""
    said = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 200, "completion_tokens": 10, "total_tokens": 210}
    return {"choices": [said], "usage": usage, "model": "scripted-2026-11"}


class Handler(BaseHTTPRequestHandler):
    """Answers as the script of a prompt says, one entry for each try; the last one goes on."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = asked["messages"][-1]["content"]
        with self.server.lock:
            self.server.asked.append(asked)
            tries = self.server.tries[prompt]
            self.server.tries[prompt] += 1
            script = self.server.scripts.get(prompt, ("right",))
        if self.headers["Authorization"] != "Bearer secret":
            self.send(401, b'{"error": "who are you?"}')
        else:
            getattr(self, script[min(tries, len(script) - 1)])(prompt)

    def send(self, status, body, cut=0, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body[: len(body) - cut])

    def reply(self, *arguments, **message):
        self.send(200, json.dumps(chat(*arguments, **message)).encode())

    def right(self, prompt):
        self.reply(oracle(prompt))

    def parts(self, prompt):
        self.reply([{"type": "text", "text": oracle(prompt)}])

    def slow(self, prompt):
        self.server.over.wait(60)
        self.close_connection = True

    def busy(self, prompt):
        self.send(429, b"slow down", Retry_After="0")

    def broken(self, prompt):
        self.send(503, b"<html>be back soon</html>")

    def cut(self, prompt):
        self.send(200, json.dumps(chat(oracle(prompt))).encode(), cut=9)
        self.close()

    def dropped(self, prompt):
        self.close()

    def close(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def half(self, prompt):
        self.send(200, b'{"choices": [{"message": {"content": "Ans')

    def page(self, prompt):
        self.send(200, b"<html>log in first</html>")

    def truncated(self, prompt):
        self.reply("By the rules of", "length")

    def thoughts_alone(self, prompt):
        self.reply(None, "length")

    def refused(self, prompt):
        self.reply(None, "stop", refusal="I won't.")

    def bad(self, prompt):
        self.send(400, b'{"error": {"message": "your prompt is flagged"}}')

    def renamed(self, prompt):
        with self.server.lock:
            known = "max_completion_tokens" in self.server.asked[-1]
        if known:
            self.right(prompt)
        else:
            self.send(400, b'{"error": "use max_completion_tokens in place of max_tokens"}')

    def log_message(self, *arguments):
        """Say nothing."""


@contextmanager
def endpoint():
    """Yield an endpoint; its ``scripts`` say by prompt what is done, ``asked`` has all that was asked."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        server.scripts, server.asked, server.tries = {}, [], Counter()
        server.lock, server.over = Lock(), Event()
        server.url = f"http://127.0.0.1:{server.server_port}/v1"
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.over.set()
        server.shutdown()
