"""What a manifest may say, and how its rows are wired."""

import base64
import json
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from localcloud.deployment import Manifest, ManifestError, Where, read_manifest, secrets, settings
from localcloud.deployment.wiring import listens, wires

ROW: dict[str, Any] = {
    "name": "tell_people",
    "does": "tells people",
    "memory": "1Gi",
    "timeout_seconds": 60,
    "retry": {"minimum_seconds": 1, "maximum_seconds": 10},
    "permissions": [],
}
WHERE = Where(project="demo", bucket="demo-jobs")


def manifest(folder: Path, **row: Any) -> Manifest:
    """A manifest with one function, read from its file."""
    file = folder / "functions.yaml"
    document = {"functions": [{**ROW, **row}], "topics": {"notices": "everybodys-notices"}}
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    return read_manifest(file)


def paths(folder: Path, **row: Any) -> list[str]:
    """What is made for a row: the last two parts of each resource's path."""
    read = manifest(folder, **row)
    (one,) = read.functions
    calls = [*wires(one, WHERE, "http://f"), *listens(one, read, "demo", "http://f")]
    return ["/".join(call.path.split("/")[-2:]) for call in calls]


def test_a_function_gets_the_messages_of_the_topics_that_it_listens_to(tmp_path: Path):
    """Besides those of its own topic, at the same place, by a subscription of its own."""
    own = ["topics/spotwarden-tell-people", "subscriptions/spotwarden-tell-people"]
    assert paths(tmp_path) == own
    more = "subscriptions/spotwarden-tell-people-everybodys-notices"
    assert paths(tmp_path, listens_to=["notices"]) == [*own, more]
    read = manifest(tmp_path, listens_to=["notices"])
    (call,) = listens(read.functions[0], read, "demo", "http://f")
    assert call.body["topic"] == "projects/demo/topics/everybodys-notices"
    assert call.body["pushConfig"] == {"pushEndpoint": "http://f/"}


def test_a_function_that_answers_requests_has_no_topic(tmp_path: Path):
    """Unless it has a schedule, whose ticks need one."""
    assert paths(tmp_path, http="public") == []
    ticked = paths(tmp_path, http="public", schedule="* * * * *")
    assert ticked[0] == "topics/spotwarden-tell-people"


def test_a_tick_has_data(tmp_path: Path):
    """A push without any is no event to functions-framework."""
    ticked = manifest(tmp_path, schedule="* * * * *").functions[0]
    *_, schedule = wires(ticked, WHERE, "http://f")
    target = schedule.body["pubsubTarget"]
    assert json.loads(base64.b64decode(target["data"])) == {}
    assert target["attributes"] == {"spotwarden-tick": "tell_people"}


@pytest.mark.parametrize(("row", "signature"), [({}, "cloudevent"), ({"http": "public"}, "http")])
def test_a_function_is_called_as_its_row_says(tmp_path: Path, row: dict[str, str], signature: str):
    """With events, or with requests."""
    assert manifest(tmp_path, **row).functions[0].signature == signature


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"listens_to": ["news"]}, "tell_people: listens_to names news, and `topics` has notices"),
        ({"http": "secret"}, "Invalid enum value 'secret'"),
        ({"http": "public", "listens_to": ["notices"]}, "takes no events"),
        ({"http": "public", "log_events": "x"}, "takes no events"),
        ({"http": "public", "bucket_events": {"OBJECT_FINALIZE": "x/"}}, "takes no events"),
    ],
)
def test_a_row_that_cannot_be_is_refused(tmp_path: Path, row: dict[str, Any], says: str):
    """With the file, the function and the reason."""
    with pytest.raises(ManifestError, match=r"functions\.yaml") as refused:
        manifest(tmp_path, **row)
    assert says in str(refused.value)


def test_links_lead_to_the_functions_that_have_pages(tmp_path: Path):
    """Where there is one; without it mails have no links."""

    def link(which: str, function: str) -> str:
        urls = {function: "http://127.0.0.1:1"}
        return settings(manifest(tmp_path), WHERE, policy=tmp_path, urls=urls)[f"SPOTWARDEN_{which}"]

    assert link("ANSWERS", "answer_notice") == link("REPORT", "report_jobs") == "http://127.0.0.1:1/"
    assert link("ANSWERS", "tell_people") == link("REPORT", "tell_people") == ""


def test_signing_keys_are_a_state_folders_own(tmp_path: Path):
    """The same at the next start, another in another folder, and nobody else's to read."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    keys = secrets(one, mail_port=25)["SPOTWARDEN_SIGNING_KEYS"]
    assert secrets(one, mail_port=26)["SPOTWARDEN_SIGNING_KEYS"] == keys
    assert secrets(other, mail_port=25)["SPOTWARDEN_SIGNING_KEYS"] != keys
    assert stat.S_IMODE((one / "signing-keys").stat().st_mode) == 0o600
