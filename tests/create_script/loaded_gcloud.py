"""A gcloud that is loaded once and forked for each command line: what does it send?

    python tests/create_script/loaded_gcloud.py SDK < command-lines.jsonl > answers.jsonl

A line in is a probe as `record_oracle.py` has them, a line out is what its `ask` gives: the exit status, the
creates that were sent, and what was asked before. Starting gcloud takes seconds, a fork a tenth of one. No
connection is opened: the transport of gcloud's client is replaced by the stand-in for Google's APIs.
"""

import argparse
import email
import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

# Beside this program, whose own folder is the first where Python looks.
ORACLE = import_module("record_oracle")
_LIMIT = 600
_COMMANDS = (
    "instances create",
    "instances bulk create",
    "instances create-with-container",
    "instance-templates create",
    "instance-groups managed create",
    "resource-policies create workload-policy",
)


class Transport:
    """What gcloud's client sends through: answers like the stand-in does, and writes down."""

    def __init__(self, diary: Any) -> None:
        self.diary = diary
        self.connections: dict[str, Any] = {}

    def request(self, uri: str, method: str = "GET", body: Any = None, headers: Any = None, **_: Any) -> Any:
        """Answer one request."""
        content = body.encode() if isinstance(body, str) else body or b""
        kind, answer = "application/json", ""
        if "/batch/" in uri:
            kind, answer = self._batch(content, headers or {})
        else:
            answer = json.dumps(self.diary.answer(method, uri, content))
        response = import_module("httplib2").Response({"status": "200", "content-type": kind})
        return response, answer.encode()

    def _batch(self, body: bytes, headers: Any) -> tuple[str, str]:
        kind = next(
            value.decode() if isinstance(value, bytes) else value
            for name, value in headers.items()
            if (name.decode() if isinstance(name, bytes) else name).lower() == "content-type"
        )
        envelope: Any = email.message_from_bytes(f"Content-Type: {kind}\n\n".encode() + body)
        answers = []
        for part in envelope.get_payload():
            line, _, rest = part.get_payload().replace("\r\n", "\n").partition("\n")
            method, url, _ = line.split(" ")
            answer = self.diary.answer(method, url, rest.partition("\n\n")[2].encode())
            number = part["Content-ID"].strip("<>")
            answers.append(
                f"--x\r\nContent-Type: application/http\r\nContent-ID: <response-{number}>\r\n\r\n"
                f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{json.dumps(answer)}\r\n"
            )
        return "multipart/mixed; boundary=x", "".join(answers) + "--x--"


def play(cli: Any, probe: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run one command line in this process; give the exit status and what was sent."""
    diary = ORACLE.Diary()
    for path, content in probe.get("files", {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode())
    os.chdir(folder)
    os.environ.update(probe.get("env", {}))
    for name in ("googlecloudsdk.core.transports", "googlecloudsdk.core.credentials.transports"):
        vars(import_module(name))["GetApitoolsTransport"] = lambda *_, **__: Transport(diary)
    with (folder / "..told").open("w+") as told:
        for descriptor in (0, 1, 2):
            os.dup2(told.fileno() if descriptor else os.open(os.devnull, os.O_RDONLY), descriptor)
        try:
            cli.Execute(probe["argv"])
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 1
        told.seek(0)
        lines = [line for line in told.read().splitlines() if "ERROR" in line]
    return {
        "status": status,
        "created": diary.created,
        "asked": diary.asked,
        "told": " ".join(lines)[:_LIMIT],
    }


def forked(cli: Any, probe: dict[str, Any]) -> dict[str, Any]:
    """Run one command line in a process of its own."""
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory() as name:
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                with os.fdopen(writing, "w") as answer:
                    json.dump(play(cli, probe, Path(name)), answer)
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            found = answer.read()
        os.waitpid(child, 0)
    return dict(json.loads(found)) if found else {"status": 1, "created": [], "asked": [], "told": "crashed"}


def configure(folder: Path) -> None:
    """Write the configuration that every command line finds."""
    settings = "[core]\nproject={project}\n[compute]\nzone={zone}\nregion={region}\n"
    (folder / "configurations").mkdir()
    (folder / "active_config").write_text("default")
    (folder / "configurations/config_default").write_text(settings.format(**ORACLE.CONFIGURED))
    (folder / "token").write_text("made-up")
    os.environ |= {
        "CLOUDSDK_CONFIG": str(folder),
        "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(folder / "token"),
        "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "false",
        "CLOUDSDK_SURVEY_DISABLE_PROMPTS": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
    }


def main() -> None:
    """Answer every command line of the input."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sdk", type=Path)
    sdk: Path = parser.parse_args().sdk.resolve()
    sys.path[:0] = [str(sdk / "lib"), str(sdk / "lib/third_party")]
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as name:
        configure(Path(name))
        cli = import_module("googlecloudsdk.gcloud_main").CreateCLI([])
        for track in ((), ("beta",), ("alpha",)):
            for path in _COMMANDS:
                cli._TopElement().LoadSubElementByPath([*track, "compute", *path.split()])
        for version in ("v1", "beta", "alpha"):
            import_module(f"googlecloudsdk.generated_clients.apis.compute.{version}.compute_{version}_client")
        for line in sys.stdin:
            sys.stdout.write(json.dumps(forked(cli, json.loads(line))) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
