"""Several commands one after another: configuration, environment, notes, and what depends on the outside."""

import pytest

from spotwarden.create_script import requests as read_script
from spotwarden.create_script.gcloud import Defaults
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown

CREATE = ["gcloud", "compute", "instances", "create", "vm"]
DATE = Unknown(reason="the output of date", line=4)


def places(translation):
    """Give project and zone of each request."""
    return [tuple(request.path.split("/")[4:7:2]) for request in translation.requests]


def test_other_programs_are_passed_over(run):
    """They belong to the shell stage."""
    assert run(["ssh", "compute", "instances", "create"], ["echo", "gcloud"]).notes == ()


def test_gcloud_may_be_called_by_its_path(run):
    """Only the last part of the path counts."""
    assert len(run(["/usr/bin/gcloud", *CREATE[1:]]).requests) == 1


def test_another_gcloud_command_is_a_note_with_its_line(run):
    """It ran once and is not run again."""
    (note,) = run(CREATE, ["gcloud", "compute", "ssh", "vm"]).notes
    assert (note.line, note.text) == (2, "gcloud compute ssh vm: not part of any request")


OLD = Defaults(project="demo-project", zone="us-central1-a", region="us-central1", gcloud_version=528)


def test_a_create_of_the_preview_track_goes_to_v1(run):
    """It has the flags of v1, and the version of the API that v1 has."""
    (preview,) = run(["gcloud", "preview", *CREATE[1:], "--max-run-duration=2h"]).requests
    assert preview.path.startswith("/compute/v1/")
    assert preview.body["scheduling"]["maxRunDuration"] == {"seconds": "7200"}


@pytest.mark.parametrize("more", [[], [DATE]])
def test_a_create_of_the_preview_track_is_refused_by_an_old_gcloud(run, more):
    """Passed over, the script would launch nothing in silence."""
    with pytest.raises(ScriptRefused, match=r"gcloud preview: gcloud 578 or newer|the output of date"):
        run(["gcloud", "preview", *CREATE[1:], *more], defaults=OLD)


def test_another_command_of_the_preview_track_is_a_note(run):
    """As in every track."""
    (note,) = run(CREATE, ["gcloud", "preview", "compute", "ssh", "vm"]).notes
    assert (note.line, note.text) == (2, "gcloud compute ssh vm: not part of any request")


@pytest.mark.parametrize(
    ("project", "where"),
    [("almalinux-cloud", "zones/-/imageFamilyViews/f"), ("mine", "global/images/family/f")],
)
def test_image_families_of_almalinux_are_asked_for_by_zone(run, project, where):
    """As gcloud 578 does it, and as of Google's other public projects."""
    (request,) = run([*CREATE, "--image-family=f", f"--image-project={project}"]).requests
    assert request.body["disks"][0]["initializeParams"]["sourceImage"].endswith(f"{project}/{where}")


def test_an_old_gcloud_asks_for_image_families_of_almalinux_globally(run):
    """As 528 does it, where the setting says that the script was written for that."""
    (request,) = run([*CREATE, "--image-family=f", "--image-project=almalinux-cloud"], defaults=OLD).requests
    source = request.body["disks"][0]["initializeParams"]["sourceImage"]
    assert source.endswith("almalinux-cloud/global/images/family/f")


def test_the_configuration_changes_creates_behind_it_only(run):
    """A property may be written with its section or, in core, without."""
    found = run(
        CREATE,
        ["gcloud", "config", "set", "project", "new-p"],
        ["gcloud", "config", "set", "--quiet", "compute/zone", "us-east1-b"],
        CREATE,
        ["gcloud", "config", "unset", "compute/zone"],
        [*CREATE, "--zone=us-west1-a"],
    )
    assert places(found) == [
        ("demo-project", "us-central1-a"),
        ("new-p", "us-east1-b"),
        ("new-p", "us-west1-a"),
    ]


def test_a_property_that_reaches_no_create_is_of_no_interest(run):
    """Only a note tells of it."""
    found = run(["gcloud", "config", "set", "core/disable_prompts", "true"], CREATE)
    assert (len(found.requests), len(found.notes)) == (1, 1)


@pytest.mark.parametrize(
    "words",
    [
        ["set", "auth/impersonate_service_account", "a@b.c"],
        ["set", "api_endpoint_overrides/compute", "https://example.com/"],
        ["configurations", "activate", "elsewhere"],
        ["configurations", "delete", "default"],
        ["import", "file"],
        ["set", "project", "My Project"],
        ["set", "project=name-p"],
    ],
)
def test_what_reaches_a_create_in_ways_not_modelled_refuses_the_next_create(words, run):
    """Without a create behind it, it does not matter."""
    changed = ["gcloud", "config", *words]
    assert len(run(CREATE, changed).requests) == 1
    with pytest.raises(ScriptRefused):
        run(changed, CREATE)


def test_a_configuration_of_the_scripts_own_starts_empty(run):
    """The first one is still there when the script goes back to it."""
    found = run(
        ["gcloud", "config", "configurations", "create", "mine"],
        ["gcloud", "config", "set", "project", "mine-p"],
        ["gcloud", "config", "set", "compute/zone", "us-east1-b"],
        CREATE,
        ["gcloud", "config", "configurations", "activate", "default"],
        CREATE,
        [*CREATE, "--configuration=mine"],
    )
    assert places(found) == [
        ("mine-p", "us-east1-b"),
        ("demo-project", "us-central1-a"),
        ("mine-p", "us-east1-b"),
    ]


def test_a_variable_is_stronger_than_the_configuration_and_weaker_than_a_flag(send):
    """CLOUDSDK_COMPUTE_ZONE stands in the environment of the command."""
    environment = {"CLOUDSDK_COMPUTE_ZONE": "us-east1-b", "CLOUDSDK_CORE_PROJECT": "env-p"}
    (by_variable,) = send(CREATE[1:], environment=environment)
    (by_flag,) = send([*CREATE[1:], "--zone=us-west1-a"], environment=environment)
    assert by_variable.path == "/compute/v1/projects/env-p/zones/us-east1-b/instances"
    assert by_flag.path == "/compute/v1/projects/env-p/zones/us-west1-a/instances"


def test_the_family_scope_can_be_configured(create):
    """It decides which URL of a public image family is sent."""
    body = create(environment={"CLOUDSDK_COMPUTE_IMAGE_FAMILY_SCOPE": "global"})
    assert body["disks"][0]["initializeParams"]["sourceImage"].endswith("/global/images/family/debian-12")


@pytest.mark.parametrize(
    "variable",
    [
        "CLOUDSDK_CONFIG",
        "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT",
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE",
    ],
)
def test_a_variable_that_changes_more_is_refused_by_name(variable, create):
    """Others, such as CLOUDSDK_CORE_DISABLE_PROMPTS, are of no interest."""
    with pytest.raises(ScriptRefused, match=variable):
        create(environment={variable: "x"})
    assert create(environment={"CLOUDSDK_CORE_DISABLE_PROMPTS": "1"}) == create()


@pytest.mark.parametrize(
    ("defaults", "reason"),
    [
        (Defaults(zone="us-central1-a"), "no project"),
        (Defaults(project="demo-project"), "needs a zone"),
        (Defaults(project="123456789", zone="z"), "is a number"),
        (Defaults(project="My Project", zone="z"), "not a valid project ID"),
    ],
)
def test_a_create_without_a_project_or_zone_is_refused(defaults, reason, run):
    """Nobody is there to be asked."""
    with pytest.raises(ScriptRefused, match=reason):
        run(CREATE, defaults=defaults)


def test_bulk_create_takes_no_zone_from_the_configuration(send):
    """It wants --zone or --region."""
    with pytest.raises(ScriptRefused, match="region"):
        send(["compute", "instances", "bulk", "create", "--name-pattern=w-#", "--count=2"])


@pytest.mark.parametrize("position", range(5, 8))
def test_an_unknown_word_in_a_create_refuses_it_with_its_reason(position, run):
    """Wherever it stands."""
    words = [*CREATE, "--zone=us-east1-b", "--preemptible"]
    words[position:position] = [DATE]
    with pytest.raises(ScriptRefused) as refusal:
        run(words)
    assert (refusal.value.reason, refusal.value.line) == (DATE.reason, DATE.line)


@pytest.mark.parametrize(
    "words", [[], ["compute"], ["compute", "instances"], ["beta", "compute", "instances", "bulk"]]
)
def test_an_unknown_word_that_may_complete_a_create_is_refused(words, run):
    """Nothing is guessed."""
    with pytest.raises(ScriptRefused, match="date"):
        run(["gcloud", *words, DATE, "vm"])


@pytest.mark.parametrize("words", [["compute", "ssh"], ["storage", "cp"], ["compute", "instances", "delete"]])
def test_an_unknown_word_in_another_command_does_no_harm(words, run):
    """It is bookkeeping."""
    assert len(run(["gcloud", *words, DATE]).notes) == 1


def test_an_unknown_project_refuses_a_create_only_if_it_needs_it(run):
    """A flag makes the configured value irrelevant."""
    unknown = ["gcloud", "config", "set", "project", DATE]
    assert len(run(unknown, [*CREATE, "--project=known-p"]).requests) == 1
    with pytest.raises(ScriptRefused, match="date"):
        run(unknown, CREATE)


def test_an_unknown_program_that_creates_instances_is_refused(run):
    """It is most likely gcloud by another name; any other unknown program is passed over."""
    with pytest.raises(ScriptRefused, match="date"):
        run([DATE, *CREATE[1:]])
    assert run([DATE, "delete", "vm"]).requests == ()


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["compute", "instance", "create", "vm"], "instances"),
        (["compute", "instances", "crate", "vm"], "create"),
        (["computer", "instances", "create", "vm"], "compute"),
        (["compute", "instances", "bulk", "creat"], "create"),
        (["compute", "beta", "instances", "create", "vm"], None),
        (["alpha", "beta", "compute", "instances", "create", "vm"], None),
    ],
)
def test_a_command_that_gcloud_does_not_have_is_refused_if_a_create_was_meant(words, near, run):
    """The nearest command is named."""
    with pytest.raises(ScriptRefused, match=f"did you mean {near}" if near else "no command"):
        run(["gcloud", *words])


@pytest.mark.parametrize("words", [["sql", "instances", "create", "db"], ["compute", "disks", "create", "d"]])
def test_creates_of_other_things_are_notes(words, run):
    """They look alike and are something else."""
    assert len(run(["gcloud", *words]).notes) == 1


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_asking_for_help_creates_nothing(flag, run):
    """Gcloud prints and ends."""
    found = run([*CREATE, flag])
    assert (found.requests, len(found.notes)) == ((), 1)


def test_the_tracks_have_paths_and_urls_of_their_own(send):
    """Alpha and beta stand before the word compute."""
    (request,) = send(["beta", "compute", "instances", "create", "vm"])
    assert request.path.startswith("/compute/beta/")
    assert "/compute/beta/" in request.body["machineType"]


def test_a_url_of_another_version_moves_the_names_behind_it(create):
    """Gcloud goes on with the version of the last URL that it read."""
    body = create("--network=https://www.googleapis.com/compute/beta/projects/p/global/networks/n")
    assert "/compute/beta/" in body["machineType"]


@pytest.mark.parametrize("text", [b"--zone=us-\xff", b"--labels=a=\xe9", b"--description=\xc3"])
def test_bytes_that_are_no_text_are_refused(text):
    """They could stand in no URL and in no body; a fuzzer found the first of these."""
    script = b"gcloud compute instances create vm --zone=us-central1-a " + text
    with pytest.raises(ScriptRefused, match="not UTF-8"):
        read_script(script, defaults=Defaults(project="p-1"))
