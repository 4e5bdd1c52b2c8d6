"""A suite of tests that others wrote, played in the environment of its client."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import trustme

from tests.clients.conftest import PROJECT
from tests.clients.lane import LIMIT, play
from tests.clients.outcomes import of_lines
from tests.clients.programs import PLUGIN

ACCOUNT = f"tester@{PROJECT}.iam.gserviceaccount.com"


def play_suite(
    python: Path,
    words: Sequence[str | Path],
    cloud: Mapping[str, str],
    home: Path,
    *,
    more: Mapping[str, str] | None = None,
    limit: float = LIMIT,
) -> tuple[Mapping[str, str], str]:
    """The outcome of each test of `pytest WORDS` in the client's environment, and what pytest printed."""
    (home / "outcomes_plugin.py").write_text(PLUGIN, encoding="utf-8")
    lines = home / "outcomes"
    plugins = ["-p", "outcomes_plugin", "-p", "no:cacheprovider"]
    own = {**(more or {}), "PYTHONPATH": str(home), "OUTCOMES": str(lines)}
    done = play([python, "-m", "pytest", "-q", *plugins, *words], cloud, home, more=own, limit=limit)
    said = done.stdout[-4000:] + done.stderr[-2000:]
    return (of_lines(lines.read_text(encoding="utf-8")) if lines.exists() else {}), said


def service_account_key(url: str, file: Path) -> Path:
    """A key of a service account, whose tokens are asked for at this local cloud."""
    pem = trustme.CA(key_type=trustme.KeyType.RSA).private_key_pem.bytes().decode()
    told = {
        "type": "service_account",
        "project_id": PROJECT,
        "private_key_id": "1",
        "private_key": pem,
        "client_email": ACCOUNT,
        "client_id": "1",
        "token_uri": f"{url}/token",
    }
    file.write_text(json.dumps(told), encoding="utf-8")
    return file
