"""A Hub on loopback, as much of it as datasets and models need: commits, tags, large files, downloads.

Commits are kept whole, so that tests can ask what anybody could ever have seen.
"""

import base64
import hashlib
import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_of_the_tests"
LARGE = re.compile(r"\.(parquet|arrow|safetensors)$")


class Repository:
    """Commits, each a dictionary of contents by name, and tags."""

    def __init__(self):
        self.commits, self.tags = {}, {}
        self.head = self.commit({".gitattributes": b"*.parquet filter=lfs\n"})

    def commit(self, files):
        names = "".join(f"{name}{hashlib.sha1(data).hexdigest()}" for name, data in sorted(files.items()))
        self.head = hashlib.sha1(f"{names}{len(self.commits)}".encode()).hexdigest()
        self.commits[self.head] = dict(files)
        return self.head

    def find(self, revision):
        return self.head if revision == "main" else self.tags.get(revision, revision)


class Hub:
    """The state of the service, and what it was asked.

    Attributes:
        repositories: by name.
        requests: method and path of each, in order.
        fail: returns a status to answer with instead, "drop", or an address to redirect to, given method and
            path; None for none.
        meanwhile: is called before a commit is looked at.
    """

    def __init__(self):
        self.repositories, self.objects, self.requests = {}, {}, []
        self.fail = lambda method, path: None
        self.meanwhile = lambda: None


def _entry(path, data):
    git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    entry = {"type": "file", "path": path, "size": len(data), "oid": git}
    if LARGE.search(path):
        entry["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
    return entry


class _Handler(BaseHTTPRequestHandler):
    """Answers for the service that is its server's ``hub``."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status=200, body=b"", headers=()):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def read(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def handle_all(self):
        path = unquote(urlsplit(self.path).path)
        self.server.hub.requests.append((self.command, path))
        data = self.read() if "Transfer-Encoding" not in self.headers else self.read_chunks()
        failure = self.server.hub.fail(self.command, path)
        if failure == "drop":
            self.close_connection = True
            self.connection.close()
        elif isinstance(failure, str):
            seen = {"Location": failure, "X-Repo-Commit": "0" * 40, "ETag": '"0"', "X-Linked-Size": "1"}
            self.answer(302, headers=seen.items())
        elif failure:
            self.answer(failure, {"error": "as the test wants it"})
        else:
            self.route(path, data)

    do_GET = do_HEAD = do_POST = do_PUT = handle_all  # noqa: N815

    def read_chunks(self):
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def route(self, path, data):
        writes = self.command in ("POST", "PUT") and "/paths-info/" not in path
        if writes and "/objects/" not in path and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(401, {"error": "no token"})
        for pattern, respond in _ROUTES:
            if found := re.fullmatch(pattern, path):
                return respond(self, data, *found.groups())
        return self.answer(404, {"error": path})

    def missing(self, what):
        self.answer(404, {"error": "none"}, [("X-Error-Code", f"{what}NotFound")])

    def repository(self, name):
        return self.server.hub.repositories.get(name) or self.missing("Repo")

    def files(self, name, revision):
        if not (repository := self.repository(name)):
            return None
        if (commit := repository.find(revision)) not in repository.commits:
            return self.missing("Revision")
        return commit, repository.commits[commit]

    def create(self, data):
        asked = json.loads(data)
        name = f"{asked.get('organization') or 'user'}/{asked['name']}"
        place = {"url": f"http://{self.headers['Host']}/{asked.get('type', 'model')}s/{name}", "name": name}
        if name in self.server.hub.repositories:
            return self.answer(409, place)
        self.server.hub.repositories[name] = Repository()
        return self.answer(200, place)

    def info(self, data, name, revision="main"):
        if found := self.files(name, revision):
            siblings = [{"rfilename": each, "size": len(data)} for each, data in found[1].items()]
            known = {"id": name, "sha": found[0], "siblings": siblings}
            self.answer(200, {**known, "tags": [], "private": False})

    def refs(self, data, name):
        if repository := self.repository(name):
            tags = [
                {"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": commit}
                for tag, commit in repository.tags.items()
            ]
            self.answer(200, {"branches": [], "converts": [], "tags": tags})

    def validate(self, data):
        self.answer(200, {"errors": [], "warnings": []})

    def preupload(self, data, name, revision):
        if not (repository := self.repository(name)):
            return
        there, files = repository.commits[repository.head], []
        for path in [each["path"] for each in json.loads(data)["files"]]:
            mode = {"path": path, "uploadMode": "lfs" if LARGE.search(path) else "regular"}
            entry = _entry(path, there[path]) if path in there else {}
            known = {"oid": entry.get("lfs", entry)["oid"]} if entry else {}
            files.append({**mode, **known, "shouldIgnore": False})
        self.answer(200, {"files": files})

    def batch(self, data, name):
        here = f"http://{self.headers['Host']}"
        objects = []
        for each in json.loads(data)["objects"]:
            action = {"upload": {"href": f"{here}/objects/{each['oid']}", "header": {}}}
            there = each["oid"] in self.server.hub.objects
            objects.append({**each, "authenticated": True, **({} if there else {"actions": action})})
        self.answer(200, {"transfer": "basic", "objects": objects})

    def put(self, data, oid):
        if hashlib.sha256(data).hexdigest() != oid:
            return self.answer(422, {"error": "checksum"})
        self.server.hub.objects[oid] = data
        return self.answer()

    def commit(self, data, name, revision):
        self.server.hub.meanwhile()
        if not (repository := self.repository(name)):
            return None
        lines = [json.loads(line) for line in data.splitlines()]
        parent = lines[0]["value"].get("parentCommit")
        if parent and parent != repository.head:
            return self.answer(412, {"error": "a commit has happened since"})
        files = dict(repository.commits[repository.head])
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.server.hub.objects[value["oid"]]
            else:
                files.pop(value["path"])
        oid = repository.commit(files)
        here = f"http://{self.headers['Host']}/datasets/{name}/commit/{oid}"
        return self.answer(200, {"commitOid": oid, "commitUrl": here, "success": True})

    def tag(self, data, name, revision):
        repository, wanted = self.repository(name), json.loads(data)["tag"]
        if repository and wanted in repository.tags:
            return self.answer(409, {"error": "there"})
        if repository:
            repository.tags[wanted] = repository.find(revision)
            self.answer(200, {})
        return None

    def paths(self, data, name, revision):
        asked = parse_qs(data.decode())["paths"]
        if found := self.files(name, revision):
            self.answer(200, [_entry(path, found[1][path]) for path in asked if path in found[1]])

    def tree(self, data, name, revision, below=None):
        if found := self.files(name, revision):
            asked = parse_qs(urlsplit(self.path).query).get("recursive", ["false"])
            entries = {path: _entry(path, content) for path, content in found[1].items()}
            for path in found[1]:
                for folder in map(str, [*PurePosixPath(path).parents][:-1]):
                    entries[folder] = {"type": "directory", "path": folder, "oid": "0" * 40, "size": 0}
            top, depth = (below or "").strip("/") or ".", None if "true" in asked[0].lower() else 1
            above = {path: [*map(str, PurePosixPath(path).parents)][:depth] for path in sorted(entries)}
            self.answer(200, [entries[path] for path, folders in above.items() if top in folders])

    def resolve(self, data, name, revision, path):
        found = self.files(name, revision)
        if not found:
            return None
        if path not in found[1]:
            return self.missing("Entry")
        content, entry = found[1][path], _entry(path, found[1][path])
        etag = entry["lfs"]["oid"] if "lfs" in entry else entry["oid"]
        headers = [("ETag", f'"{etag}"'), ("X-Repo-Commit", found[0]), ("Accept-Ranges", "bytes")]
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if wanted and self.command != "HEAD":
            begin, end = int(wanted[1]), min(int(wanted[2] or len(content)), len(content) - 1)
            headers.append(("Content-Range", f"bytes {begin}-{end}/{len(content)}"))
            return self.answer(206, content[begin : end + 1], headers)
        return self.answer(200, content, headers)


_NAME = r"([^/]+/[^/]+)"
_API, _FILES = rf"/api/(?:datasets|models)/{_NAME}", rf"/(?:datasets/)?{_NAME}"
_ROUTES = [
    (r"/api/repos/create", _Handler.create),
    (r"/api/validate-yaml", _Handler.validate),
    (rf"{_API}", _Handler.info),
    (rf"{_API}/revision/(.+)", _Handler.info),
    (rf"{_API}/refs", _Handler.refs),
    (rf"{_API}/preupload/(.+)", _Handler.preupload),
    (rf"{_FILES}\.git/info/lfs/objects/batch", _Handler.batch),
    (r"/objects/(\w+)", _Handler.put),
    (rf"{_API}/commit/(.+)", _Handler.commit),
    (rf"{_API}/tag/(.+)", _Handler.tag),
    (rf"{_API}/paths-info/(.+)", _Handler.paths),
    (rf"{_API}/tree/([^/]+)(/.+)?", _Handler.tree),
    (rf"{_FILES}/resolve/([^/]+)/(.+)", _Handler.resolve),
]


@contextmanager
def serve():
    """Run a Hub; yield its state and its address."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.hub = hub
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield hub, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
