"""For every recorded command line: what gcloud sent, or a refusal where it sent nothing or had to ask."""

import json
import os
import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.model.gcloud import NEWEST, OLDEST, VERSIONS
from tests.long import long, longest

FILES = {OLDEST: "probes.json", NEWEST: "probes_578.json"}
RECORDED = {
    version: json.loads(Path(__file__).with_name(name).read_text()) for version, name in FILES.items()
}
PROBES = [(version, probe) for version, record in RECORDED.items() for probe in record["probes"]]
SHARED = os.environ.get("SPOTWARDEN_CREATE_SCRIPTS")
# What the probes of the shared folder read; it keeps only what gcloud made of these.
SHARED_FILES = {
    "s.sh": '#!/bin/bash\necho "a=b, c" \\\n',
    "u.yaml": "#cloud-config\n",
    "latin1.txt": b"\xe9",
    "flags-list.yaml": "- --local-ssd: {interface: NVME}\n- --local-ssd: {interface: NVME}\n",
    "flags-int.yaml": "--metadata:\n  a: 1\n",
    "env": "C=3\nD=four five\n",
}
ASKED = ("/addresses/", "/global/images", "/tagKeys/")


def recorder():
    """Load the recorder, which is a program beside the tests and no module of the package."""
    spec = spec_from_file_location("record_oracle", Path(__file__).parents[1] / "record_oracle.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ORACLE = recorder()


def as_json(requests):
    """Write requests as they were recorded."""
    return [{"method": r.method, "path": r.path, "query": dict(r.query), "body": r.body} for r in requests]


def name_of(probe):
    """Name a probe by its words behind the command."""
    return " ".join(probe["argv"][3:])[:100].replace("\n", " ")


def files_of(probe):
    """Give the files of a probe as bytes."""
    return {name: text.encode() for name, text in probe.get("files", {}).items()}


def test_each_version_that_is_read_has_a_record_of_its_own():
    """A record of another gcloud would test other defaults."""
    assert {version: record["sdk"] for version, record in RECORDED.items()} == {
        version: f"{version}.0.0" for version in VERSIONS
    }


@pytest.mark.parametrize(
    ("version", "probe"), PROBES, ids=lambda part: str(part) if isinstance(part, int) else name_of(part)
)
def test_a_recorded_command_line_gives_what_gcloud_sent(version, probe, send):
    """The requests are equal as JSON; without any there is a refusal that names the line."""
    if "sent" not in probe:
        with pytest.raises(ScriptRefused) as refusal:
            send(probe["argv"], gcloud_version=version, files=files_of(probe), line=7)
        assert refusal.value.line == 7
        return
    plain = RECORDED[version]["plain"][ORACLE.command_of(probe["argv"])]
    expected = [ORACLE.patched(plain, patch) for patch in probe["sent"]]
    assert as_json(send(probe["argv"], gcloud_version=version, files=files_of(probe))) == expected


def shared_probes():
    """Read the probes of the folder that the environment names."""
    return json.loads((Path(SHARED) / "probes.json").read_text()) if SHARED else {"none": None}


@pytest.mark.parametrize(("name", "probe"), shared_probes().items())
def test_a_probe_of_the_shared_folder_gives_what_gcloud_sent(name, probe, send):
    """As for our own; what gcloud had to look up is refused."""
    if probe is None:
        pytest.skip("SPOTWARDEN_CREATE_SCRIPTS names no folder with more probes")
    files = {path: text if isinstance(text, bytes) else text.encode() for path, text in SHARED_FILES.items()}
    if probe["rc"] or any(part in call for call in probe["other_calls"] for part in ASKED):
        with pytest.raises(ScriptRefused):
            send(probe["argv"], gcloud_version=OLDEST, files=files)
    else:
        assert as_json(send(probe["argv"], gcloud_version=OLDEST, files=files)) == probe["requests"], name


LIVE = (
    ["compute", "instances", "create", "live", "--provisioning-model=spot", "--metadata=^;^a=1,2;b=3"],
    pytest.param(
        ["beta", "compute", "instances", "bulk", "create", "--predefined-names=a,b", "--region=us-east1"],
        marks=long,
    ),
    pytest.param(["compute", "instances", "create", "live", "--max-run-duration=2hours"], marks=long),
    pytest.param(
        [
            "compute",
            "instances",
            "create",
            "live",
            "--create-disk=boot=yes,size=1TB",
            "--boot-disk-interface=NVME",
        ],
        marks=longest,
    ),
)


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    """The real gcloud, if it is here in the pinned version."""
    if not (shutil.which("gcloud") and shutil.which("openssl")):
        pytest.skip("gcloud is not installed: not compared with the real one")
    oracle = ORACLE.Oracle(tmp_path_factory.mktemp("oracle"))
    if oracle.version() != f"{OLDEST}.0.0":
        pytest.skip(f"gcloud is not version {OLDEST}: not compared with this one")
    return oracle


@pytest.mark.parametrize("argv", LIVE, ids=lambda argv: " ".join(argv[3:]))
def test_the_real_gcloud_sends_the_same(argv, oracle, send):
    """A few command lines are asked anew, so that the record cannot drift from the program."""
    status, diary = oracle.ask({"argv": argv})
    if status:
        with pytest.raises(ScriptRefused):
            send(argv, gcloud_version=OLDEST)
    else:
        assert as_json(send(argv, gcloud_version=OLDEST)) == diary.created
