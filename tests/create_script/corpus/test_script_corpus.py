"""Whole scripts: the requests that the real gcloud sent when the real bash ran them.

Our own set lies beside this file: `index.tsv` says of each script what is to come out, `NAME.json` what
gcloud sent, `NAME.files` what lies beside it. Another set of the form of
`create-scripts` is held to the same where SPOTWARDEN_CREATE_SCRIPTS names its folder; those written for a
newer gcloud, with what that sends, where SPOTWARDEN_CREATE_SCRIPTS_578 does.
"""

import csv
import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from spotwarden.create_script import Defaults, ScriptRefused, requests
from spotwarden.model.gcloud import NEWEST, OLDEST, VERSIONS

HERE = Path(__file__).parent
OUTSIDE = {
    OLDEST: os.environ.get("SPOTWARDEN_CREATE_SCRIPTS", ""),
    NEWEST: os.environ.get("SPOTWARDEN_CREATE_SCRIPTS_578", ""),
}


class Case(NamedTuple):
    """A script and what is to come of it: `ok`, `impure`, `gcloud-refuses` or `nothing-sent`."""

    script: Path
    outcome: str

    @property
    def files(self) -> dict[str, bytes]:
        """The files beside it."""
        folder = self.script.with_suffix(".files")
        found = (path for path in sorted(folder.rglob("*")) if path.is_file()) if folder.is_dir() else ()
        return {str(path.relative_to(folder)): path.read_bytes() for path in found}

    @property
    def sent(self) -> list[dict[str, object]]:
        """What gcloud sent."""
        answer = self.script.with_suffix(".json")
        return list(json.loads(answer.read_bytes())) if answer.exists() else []


def _cases(folder: Path) -> list[Case]:
    with (folder / "index.tsv").open(newline="") as file:
        rows = [row for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row[0] != "file"]
    return [Case((folder / row[0]).with_suffix(".sh"), row[1]) for row in rows]


def _read(case: Case, version: int = OLDEST) -> list[dict[str, object]] | ScriptRefused:
    configured = Defaults(
        project="demo-project", zone="us-central1-a", region="us-central1", gcloud_version=version
    )
    try:
        found = requests(case.script.read_bytes(), files=case.files, defaults=configured)
    except ScriptRefused as refused:
        return refused
    plain = [
        {"method": sent.method, "path": sent.path, "query": dict(sent.query), "body": sent.body}
        for sent in found
    ]
    return list(json.loads(json.dumps(plain)))


OURS = _cases(HERE)


@pytest.mark.parametrize(
    "case", [case for case in OURS if case.outcome == "ok"], ids=lambda case: case.script.stem
)
def test_a_pure_script_sends_what_gcloud_sent(case: Case):
    """The same requests, in the same order, as JSON."""
    assert _read(case) == case.sent


@pytest.mark.parametrize(
    "case",
    [case for case in OURS if case.outcome in ("impure", "gcloud-refuses")],
    ids=lambda case: case.script.stem,
)
def test_a_script_that_is_not_certain_or_wrong_is_refused(case: Case):
    """With a reason and the line."""
    refused = _read(case)
    assert isinstance(refused, ScriptRefused)
    assert refused.reason
    assert 1 <= refused.line <= case.script.read_bytes().count(b"\n") + 1


@pytest.mark.parametrize(
    "case", [case for case in OURS if case.outcome == "nothing-sent"], ids=lambda case: case.script.stem
)
def test_a_script_that_reaches_no_create_sends_nothing(case: Case):
    """Whether bash stops or the script never gets there."""
    found = _read(case)
    assert isinstance(found, ScriptRefused) or found == []


def test_every_script_here_is_in_the_index():
    """None is left out of the comparison, and none is in it twice."""
    names = [case.script.name for case in OURS]
    assert sorted(names) == sorted(path.name for path in HERE.glob("*.sh"))


@pytest.mark.parametrize(
    "case",
    [case for case in OURS if case.outcome == "ok" and "container" not in case.script.name],
    ids=lambda case: case.script.stem,
)
def test_the_newest_gcloud_sends_the_same_for_old_scripts(case: Case):
    """All but containers, whose declaration begins with another comment."""
    assert _read(case, NEWEST) == case.sent


@pytest.mark.parametrize("version", VERSIONS)
def test_another_set_of_scripts_comes_out_as_gcloud_sent_it(version: int):
    """All of them at once; the names of those that differ are told."""
    if not OUTSIDE[version]:
        pytest.skip(f"no variable names a folder of scripts for gcloud {version}: not compared")
    wrong = []
    for case in _cases(Path(OUTSIDE[version])):
        found = _read(case, version)
        good = found == case.sent if case.outcome == "ok" else isinstance(found, ScriptRefused)
        if not (good or (case.outcome == "nothing-sent" and found == [])):
            wrong.append(f"{case.script.name} ({case.outcome}): {found}"[:300])
    assert not wrong
