"""For every recorded command for a part of a TPU slice: what gcloud sent, or a refusal."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from spotwarden.create_script.gcloud.group_flags import NO_SLICE, NO_SLICE_TEMPLATE
from spotwarden.create_script.gcloud.session import GcloudSession
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.model.gcloud import NEWEST, OLDEST, VERSIONS
from tests.create_script.gcloud.conftest import CONFIGURED, command
from tests.create_script.gcloud.test_gcloud_probes import ORACLE, as_json, files_of

FILES = {OLDEST: "slice_probes.json", NEWEST: "slice_probes_578.json"}
RECORDED = {
    version: json.loads(Path(__file__).with_name(name).read_text()) for version, name in FILES.items()
}
PROBES = [
    pytest.param(version, probe, id=f"{version} {' '.join(probe['argv'][1:])[:100]}")
    for version, record in RECORDED.items()
    for probe in record["probes"]
]
NEVER = re.compile(rf"--(?:{'|'.join(sorted(NO_SLICE))})(?:=|$)")
NEVER_IN_TEMPLATE = re.compile(rf"--(?:{'|'.join(sorted(NO_SLICE_TEMPLATE))})(?:=|$)")


def found(version, probe):
    """What the one command of a probe sends, or why it is refused."""
    session = GcloudSession(replace(CONFIGURED, gcloud_version=version))
    session.read(command(["gcloud", *probe["argv"]], files=files_of(probe), line=7))
    [part] = session.slice.parts
    return part.found


def kept_out(probe):
    """Whether it has a flag that makes no slice of it, which gcloud takes."""
    never = NEVER_IN_TEMPLATE if "instance-templates" in probe["argv"] else NEVER
    own = "resource-policies" not in probe["argv"]
    return own and any(never.match(word) for word in probe["argv"])


@pytest.mark.parametrize(("version", "probe"), PROBES)
def test_a_recorded_command_line_gives_what_gcloud_sent(version, probe):
    """The requests are equal as JSON; without any there is a refusal that names the line."""
    part = found(version, probe)
    if "sent" not in probe or kept_out(probe):
        assert isinstance(part, ScriptRefused)
        assert part.line == 7
        return
    plain = RECORDED[version]["plain"][ORACLE.command_of(probe["argv"])]
    assert not isinstance(part, ScriptRefused), part
    assert as_json([part]) == [ORACLE.patched(plain, patch) for patch in probe["sent"]]


def test_the_records_are_of_the_versions_that_are_read_and_differ():
    """The newer gcloud takes flags that the older one refuses."""
    assert {version: record["sdk"] for version, record in RECORDED.items()} == {
        version: f"{version}.0.0" for version in VERSIONS
    }
    pairs = zip(RECORDED[OLDEST]["probes"], RECORDED[NEWEST]["probes"], strict=True)
    assert sum(older != newer for older, newer in pairs) >= 6


def test_most_of_what_gcloud_sends_is_read():
    """What makes no slice is the smaller part."""
    sent = [probe for probe in RECORDED[NEWEST]["probes"] if "sent" in probe]
    assert sum(map(kept_out, sent)) * 4 < len(sent)
