"""Stands in for gcloud while a create script is resolved: writes creates down and changes nothing.

It is run by its path, for each gcloud command of the script, so it imports nothing but the standard
library. The environment says where to write (`SPOTWARDEN_RECORD`) and which gcloud may be asked what
is only a question (`SPOTWARDEN_REAL_GCLOUD`, empty for none).
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

CREATING = {"create", "create-with-container"}
ASKING_NAMES = """
cat describe describe-from-family du get get-ancestors get-iam-policy get-value hash help info list ls
print-access-token print-identity-token print-settings search version
"""
ASKING = frozenset(ASKING_NAMES.split())
CONFIGURED = ("CLOUDSDK_CORE_PROJECT", "CLOUDSDK_COMPUTE_ZONE", "CLOUDSDK_COMPUTE_REGION")
FILE_FLAG_NAMES = """
--container-env-file --csek-key-file --flags-file --metadata-from-file --node-affinity-file
--partner-metadata-from-file --source-machine-image-csek-key-file
"""
FILE_FLAGS = frozenset(FILE_FLAG_NAMES.split())
LISTED = {"--metadata-from-file", "--partner-metadata-from-file"}
DEAD_ENDPOINT = "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE"
FOLDER = "resolved"
"""Where the files that the creates name lie beside the resolved script."""
_UNSAFE = re.compile(r"[^\w.-]", re.ASCII)
_DELIMITER = re.compile(r"\^([^^]+)\^", re.DOTALL)
_SETTING = re.compile(r"(?:(core|compute)/)?(project|zone|region)")


def kind_of(words: list[str]) -> str:
    """Say what a command is: a `create`, a `config` change, a `question`, or anything `else`."""
    plain = [word for word in words if not word.startswith("-")]
    if {"compute", "instances"} <= set(plain):
        verbs = [word for word in plain[plain.index("instances") :] if word in ASKING or word in CREATING]
        if verbs and verbs[0] in CREATING:
            return "create"
    if plain[:2] in (["config", "set"], ["config", "unset"]):
        return "config"
    if not plain or words[-1] in ("--help", "--version"):
        return "question"
    return "question" if any(word in ASKING for word in plain[:5]) else "else"


def with_files(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the words with every file they name renamed, and the contents under the new names, in base64."""
    changed: list[str] = []
    files: dict[str, str] = {}
    flag = ""
    for word in words:
        name, equals, value = word.partition("=")
        if flag or (name in FILE_FLAGS and equals):
            prefix, rest = ("", word) if flag else (f"{name}=", value)
            changed.append(prefix + _renamed(flag or name, rest, files))
            flag = ""
        else:
            changed.append(word)
            flag = word if word in FILE_FLAGS else ""
    return changed, files


def _renamed(flag: str, value: str, files: dict[str, str]) -> str:
    if flag not in LISTED:
        return _keep(value, files)
    found = _DELIMITER.match(value)
    start, delimiter = (found.group(), found.group(1)) if found else ("", ",")
    pieces = []
    for piece in value[len(start) :].split(delimiter):
        key, equals, path = piece.partition("=")
        pieces.append(f"{key}={_keep(path, files)}" if equals else piece)
    return start + delimiter.join(pieces)


def _keep(path: str, files: dict[str, str]) -> str:
    try:
        content = Path(path).read_bytes()
    except OSError:
        return path  # gcloud will say what is wrong with it
    # Named by what is in it: two files of one name stay two, and one that is named twice stays one.
    name = f"{FOLDER}/{hashlib.sha256(content).hexdigest()[:8]}-{_UNSAFE.sub('_', Path(path).name)}"
    files[name] = base64.b64encode(content).decode()
    return name


def record(entry: dict[str, object]) -> None:
    """Append one line to the record."""
    with Path(os.environ["SPOTWARDEN_RECORD"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def ask(words: list[str]) -> int:
    """Pass a question on to the real gcloud, with what the script has configured so far."""
    real = os.environ.get("SPOTWARDEN_REAL_GCLOUD")
    if not real:
        sys.stderr.write(
            f"gcloud isn't installed here, and the script needs its answer: gcloud {' '.join(words)}\n"
        )
        return 1
    environment = {key: value for key, value in os.environ.items() if key != DEAD_ENDPOINT}
    original = os.environ.get("SPOTWARDEN_ENDPOINT")
    if original:
        environment[DEAD_ENDPOINT] = original
    return subprocess.run([real, *words], env=settings() | environment, check=False).returncode  # noqa: S603 — the user's own gcloud, no shell


def settings() -> dict[str, str]:
    """Return what `gcloud config set` of this script comes to, as variables."""
    found: dict[str, str] = {}
    for line in Path(os.environ["SPOTWARDEN_RECORD"]).read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        plain = [word for word in entry["words"] if not word.startswith("-")]
        known = _SETTING.fullmatch(plain[2]) if entry["kind"] == "config" and len(plain) > 2 else None  # noqa: PLR2004 — a command, its verb and a setting
        if known:
            section = "CORE" if known.group(2) == "project" else "COMPUTE"
            found[f"CLOUDSDK_{section}_{known.group(2).upper()}"] = plain[3] if plain[1] == "set" else ""
    return {key: value for key, value in found.items() if value}


def main(words: list[str]) -> int:
    """Handle one gcloud command; return its exit status."""
    kind = kind_of(words)
    if kind == "question":
        return ask(words)
    files: dict[str, str] = {}
    if kind == "create":
        words, files = with_files(words)
    configured = {key: os.environ[key] for key in CONFIGURED if os.environ.get(key)}
    record({"kind": kind, "words": words, "environment": configured, "files": files})
    if kind == "else":
        sys.stderr.write(f"left out: gcloud {' '.join(words)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
