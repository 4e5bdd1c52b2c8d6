"""Ask an installed gcloud what it sends for the command lines of a probe file, and write that beside them.

gcloud is the real one; what it talks to is a stand-in for Google's APIs inside this program, reached as
an HTTPS proxy on 127.0.0.1 with a certificate authority that lives for one run. No account is needed
and nothing leaves the machine. Needs gcloud and openssl.

    python tests/create_script/record_oracle.py tests/create_script/gcloud/probes.json
    python tests/create_script/record_oracle.py tests/create_script/gcloud/probes_578.json --sdk /opt/sdk-578

With `--sdk` it is the gcloud in that folder, loaded once (`loaded_gcloud.py`); without, the installed one.

A probe is `{"argv": [...]}`, with `"files": {path: text}` and `"env": {name: text}` where it needs them.
The answer is put beside it: `"sent"`, one JSON merge patch (RFC 7396) for each request against the plain
request of the same command, under `"plain"` in the file; or `"refused": true` where gcloud sends nothing;
or `"asks": [...]`, what gcloud asks the API before it can tell.
"""

import argparse
import email
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

CONFIGURED = {"project": "demo-project", "zone": "us-central1-a", "region": "us-central1"}
COMPUTE = "https://compute.googleapis.com"
_INSERT = re.compile(
    r"/(?:instances(?:/bulkInsert)?|instanceTemplates|instanceGroupManagers|resourcePolicies)$"
)
# What gcloud reads without taking anything from the answer into the request.
_HARMLESS = re.compile(
    r"/projects/[^/]+(?:/zones/[^/]+|/regions/[^/]+)?$|/machineTypes/|/instances/|/operations|/global/images/"
)
_PLAIN = {
    "create": ["compute", "instances", "create", "vm"],
    "bulk create": [
        *(
            "compute",
            "instances",
            "bulk",
            "create",
            "--name-pattern=w-#",
            "--count=2",
            "--zone=us-central1-a",
        ),
    ],
    "create-with-container": [
        *("compute", "instances", "create-with-container", "vm", "--container-image=nginx"),
        *("--image-family=cos-stable", "--image-project=cos-cloud"),
    ],
    "instance-templates create": ["compute", "instance-templates", "create", "t"],
    "instance-groups managed create": [
        *("compute", "instance-groups", "managed", "create", "g", "--size=4", "--template=t"),
        "--zone=us-central1-a",
    ],
    "resource-policies create workload-policy": [
        *("compute", "resource-policies", "create", "workload-policy", "p", "--type=high-throughput"),
        "--region=us-central1",
    ],
}
_GROUPS = {"instance-templates", "instance-groups", "resource-policies"}


class Diary:
    """What one gcloud process asked of the stand-in, in order."""

    def __init__(self) -> None:
        self.created: list[dict[str, Any]] = []
        self.asked: list[str] = []

    def answer(self, method: str, url: str, body: bytes) -> dict[str, Any]:
        """Write down one request; answer just well enough for gcloud to go on."""
        parts = urlsplit(url)
        path = unquote(parts.path)
        if method == "POST" and _INSERT.search(path):
            query = {key: text for key, text in parse_qsl(parts.query) if key != "requestId"}
            request = {"method": method, "path": parts.path, "query": query, "body": json.loads(body)}
            self.created.append(request)
            return _operation(path, request["body"])
        if not self.created and not _HARMLESS.search(path):
            self.asked.append(f"{method} {path}")
        return _resource(path)


def _operation(path: str, body: dict[str, Any]) -> dict[str, Any]:
    place, _, collection = path.removesuffix("/bulkInsert").rpartition("/")
    kind = re.search(r"/(zone|region)s/", place)
    return {
        **({kind[1]: COMPUTE + place} if kind else {}),
        "name": "operation-1",
        "status": "DONE",
        "operationType": "insert",
        "operationGroupId": "group-1",
        "selfLink": f"{COMPUTE}{place}/operations/operation-1",
        "targetLink": f"{COMPUTE}{place}/{collection}/{body.get('name', 'vm')}",
    }


def _resource(path: str) -> dict[str, Any]:
    name = path.rsplit("/", 1)[-1]
    found: dict[str, Any] = {"name": name, "id": "1", "selfLink": COMPUTE + path}
    if not re.search(r"/instance(?:Templates|GroupManagers)/", path):
        found |= {"status": "UP", "zones": [], "items": []}
    if re.search(r"/projects/[^/]+$", path):
        found["defaultServiceAccount"] = "1-compute@developer.gserviceaccount.com"
    if path.endswith(("/wait", "/operations/operation-1")):
        return _operation(path.partition("/operations/")[0] + "/instances", {})
    return found


class OracleServer(ThreadingHTTPServer):
    """Where one gcloud process sends what it asks."""

    tls: ssl.SSLContext

    def __init__(self, *how: Any) -> None:
        super().__init__(*how)
        self.diary = Diary()


class Handler(BaseHTTPRequestHandler):
    """A proxy that is every host itself."""

    server: OracleServer

    protocol_version = "HTTP/1.1"
    host = ""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def finish(self) -> None:
        """Close the inner end of the tunnel, which the server does not know."""
        super().finish()
        self.connection.close()

    def do_CONNECT(self) -> None:
        """Open the tunnel and end it here."""
        self.send_response(200)
        self.end_headers()
        self.host = self.path.split(":")[0]
        try:
            self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        except OSError:
            self.close_connection = True
            return
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)

    def do_GET(self) -> None:
        """Answer one request inside the tunnel."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "/batch/" in self.path:
            self._send(*self._batch(body))
        else:
            answer = self.server.diary.answer(self.command, f"https://{self.host}{self.path}", body)
            self._send("application/json", json.dumps(answer))

    do_POST = do_GET

    def _batch(self, body: bytes) -> tuple[str, str]:
        """Take several requests out of one envelope."""
        head = f"Content-Type: {self.headers['Content-Type']}\n\n".encode()
        answers = []
        envelope: Any = email.message_from_bytes(head + body)
        for part in envelope.get_payload():
            line, _, rest = part.get_payload().replace("\r\n", "\n").partition("\n")
            method, url, _ = line.split(" ")
            answer = self.server.diary.answer(method, url, rest.partition("\n\n")[2].encode())
            number = part["Content-ID"].strip("<>")
            answers.append(
                f"--x\r\nContent-Type: application/http\r\nContent-ID: <response-{number}>\r\n\r\n"
                f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{json.dumps(answer)}\r\n"
            )
        return "multipart/mixed; boundary=x", "".join(answers) + "--x--"

    def _send(self, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Oracle:
    """The installed gcloud with a stand-in behind it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.gcloud = shutil.which("gcloud") or ""
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        _certify(folder)
        self.tls.load_cert_chain(folder / "site.crt", folder / "site.key")

    def version(self) -> str:
        """Give the version of the Google Cloud SDK."""
        told = subprocess.run(
            [self.gcloud, "version", "--format=json"], capture_output=True, check=True, text=True
        )
        found: str = json.loads(told.stdout)["Google Cloud SDK"]
        return found

    def ask(self, probe: dict[str, Any]) -> tuple[int, Diary]:
        """Run one command line; give gcloud's exit status and what it asked."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name, self._stand_in() as server:
            work = Path(name)
            (work / "config/configurations").mkdir(parents=True)
            (work / "config/active_config").write_text("default")
            settings = "[core]\nproject={project}\n[compute]\nzone={zone}\nregion={region}\n"
            (work / "config/configurations/config_default").write_text(settings.format(**CONFIGURED))
            (work / "config/token").write_text("made-up")
            (work / "here").mkdir()
            for path, text in probe.get("files", {}).items():
                (work / "here" / path).parent.mkdir(parents=True, exist_ok=True)
                (work / "here" / path).write_bytes(text.encode())
            done = subprocess.run(
                [self.gcloud, *probe["argv"]],
                cwd=work / "here",
                env=self._environment(work, server) | probe.get("env", {}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=120,
            )
            return done.returncode, server.diary

    def _environment(self, work: Path, server: OracleServer) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(work),
            "LANG": "C.UTF-8",
            "CLOUDSDK_CONFIG": str(work / "config"),
            "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(work / "config/token"),
            "CLOUDSDK_PROXY_TYPE": "http",
            "CLOUDSDK_PROXY_ADDRESS": "127.0.0.1",
            "CLOUDSDK_PROXY_PORT": str(server.server_address[1]),
            "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE": str(self.folder / "ca.crt"),
            "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false",
            "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
            "CLOUDSDK_SURVEY_DISABLE_PROMPTS": "true",
            "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
        }

    @contextmanager
    def _stand_in(self) -> Iterator[OracleServer]:
        server = OracleServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.tls = self.tls
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class LoadedOracle:
    """The gcloud of an SDK that is loaded once, for one command line at a time."""

    def __init__(self, sdk: Path) -> None:
        self.sdk = sdk
        program = [sys.executable, str(Path(__file__).with_name("loaded_gcloud.py")), str(sdk)]
        self._player = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def version(self) -> str:
        """Give the version of the Google Cloud SDK."""
        return (self.sdk / "VERSION").read_text().strip()

    def ask(self, probe: dict[str, Any]) -> tuple[int, Diary]:
        """Run one command line; give gcloud's exit status and what it asked."""
        assert self._player.stdin
        assert self._player.stdout
        self._player.stdin.write(json.dumps(probe) + "\n")
        self._player.stdin.flush()
        answer = json.loads(self._player.stdout.readline())
        diary = Diary()
        diary.created, diary.asked = answer["created"], answer["asked"]
        return (0 if diary.created else answer["status"]), diary


def _certify(folder: Path) -> None:
    """Make an authority and a certificate for every host of Google's APIs."""
    names = "subjectAltName=DNS:*.googleapis.com,DNS:googleapis.com,DNS:*.google.com"
    (folder / "names").write_text(names)

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    new = ("-newkey", "rsa:2048", "-nodes")
    openssl(
        "req", "-x509", *new, "-days", "2", "-subj", "/CN=recorder", "-keyout", "ca.key", "-out", "ca.crt"
    )
    openssl("req", *new, "-subj", "/CN=googleapis.com", "-keyout", "site.key", "-out", "site.csr")
    signed = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names")
    openssl("x509", "-req", "-in", "site.csr", *signed, "-out", "site.crt")


def patch_between(old: object, new: object) -> object:
    """Give the merge patch (RFC 7396) that makes `new` of `old`; neither holds null."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    changed = {key: patch_between(old.get(key), value) for key, value in new.items() if old.get(key) != value}
    return {**changed, **dict.fromkeys(old.keys() - new.keys())}


def patched(old: object, patch: object) -> object:
    """Give what a merge patch makes of `old`."""
    if not isinstance(patch, dict):
        return patch
    result = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value)
    return result


def command_of(argv: list[str]) -> str:
    """Say which create command a line is."""
    for command in _PLAIN:
        first = command.split()
        if first[0] in _GROUPS and first[0] in argv:
            return command
    if "bulk" in argv:
        return "bulk create"
    return "create-with-container" if "create-with-container" in argv else "create"


def record(oracle: Oracle | LoadedOracle, probe: dict[str, Any], plain: dict[str, Any]) -> dict[str, Any]:
    """Give the probe with gcloud's answer."""
    status, diary = oracle.ask(probe)
    kept = {key: probe[key] for key in ("argv", "files", "env") if key in probe}
    if diary.asked:
        return kept | {"asks": diary.asked}
    if status:
        return kept | {"refused": True}
    return kept | {"sent": [patch_between(plain[command_of(probe["argv"])], sent) for sent in diary.created]}


def main() -> None:
    """Record all probes of a file again."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--sdk", type=Path)
    options = parser.parse_args()
    file: Path = options.file
    probes = json.loads(file.read_text())["probes"]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(1 if options.sdk else 2) as pool:
        oracle = LoadedOracle(options.sdk) if options.sdk else Oracle(Path(name))
        played = {command_of(probe["argv"]) for probe in probes}
        plain = {
            command: oracle.ask({"argv": argv})[1].created[0]
            for command, argv in _PLAIN.items()
            if command in played
        }
        found = list(pool.map(lambda probe: record(oracle, probe, plain), probes))
        head = {"sdk": oracle.version(), "configured": CONFIGURED, "plain": plain}
    lines = ",\n".join("  " + json.dumps(probe, ensure_ascii=False, sort_keys=True) for probe in found)
    text = json.dumps(head, ensure_ascii=False, indent=1, sort_keys=True)
    file.write_text(f'{text[:-2]},\n "probes": [\n{lines}\n ]\n}}\n')


if __name__ == "__main__":
    main()
