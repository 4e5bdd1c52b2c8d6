"""How words become flags and names, by the rules of gcloud's parser."""

import pytest

from spotwarden.create_script.refusal import ScriptRefused

CREATE = ["compute", "instances", "create"]


def names(requests):
    """Give the names of the machines in the order of their requests."""
    return [request.body["name"] for request in requests]


def test_flags_may_stand_before_and_behind_the_names(send):
    """All names stand together, wherever that is."""
    assert names(send([*CREATE, "--preemptible", "a", "b", "--no-address"])) == ["a", "b"]


def test_names_on_both_sides_of_a_flag_are_refused(send):
    """Gcloud takes the second run of words for something unknown."""
    with pytest.raises(ScriptRefused, match="'b'"):
        send([*CREATE, "a", "--preemptible", "b"])


def test_a_value_may_be_glued_to_its_flag_or_follow_it(create):
    """Both forms mean the same."""
    assert create("--description=x") == create("--description", "x")


def test_a_flag_cannot_be_the_value_of_another(create):
    """A missing value is not taken from the next flag."""
    with pytest.raises(ScriptRefused, match="--description: needs a value"):
        create("--description", "--preemptible")


@pytest.mark.parametrize("value", ["-5", "-x y", "-"])
def test_some_words_with_a_dash_are_values_all_the_same(value, create):
    """Negative numbers, words with a blank in them, and a single dash are no flags."""
    assert create("--description", value)["description"] == value


def test_two_dashes_end_the_flags_and_are_no_name(send):
    """What looks like a flag behind them is a name."""
    assert names(send([*CREATE, "--no-address", "--", "a", "--preemptible"])) == ["a", "--preemptible"]


def test_two_dashes_behind_the_names_are_refused_once_flags_stand_between(send):
    """They would begin a second run of words."""
    with pytest.raises(ScriptRefused):
        send([*CREATE, "a", "--no-address", "--"])


@pytest.mark.parametrize(
    ("flag", "near"),
    [("--machine_type=x", "--machine-type"), ("--machine=x", "--machine-type"), ("--tag=a", "--tags")],
)
def test_an_unknown_or_shortened_flag_names_the_nearest_one(flag, near, create):
    """Flags are never completed."""
    with pytest.raises(ScriptRefused, match=f"did you mean {near}"):
        create(flag)


def test_a_flag_that_resembles_none_is_refused_without_a_guess(create):
    """Nothing is named that would not help."""
    with pytest.raises(ScriptRefused, match=r"unknown flag '--qqqqqq'$"):
        create("--qqqqqq")


def test_a_switch_takes_no_value(create):
    """Not even the empty one."""
    for flag in ("--preemptible=true", "--preemptible="):
        with pytest.raises(ScriptRefused, match="is a switch"):
            create(flag)


def test_of_two_switches_the_last_one_counts(create):
    """A negated switch is a switch, too."""
    assert "preemptible" not in create("--preemptible", "--no-preemptible")["scheduling"]
    assert create("--no-preemptible", "--preemptible")["scheduling"]["preemptible"] is True


def test_of_two_values_the_last_one_counts_also_for_lists(create):
    """The first list is lost, as in gcloud."""
    assert create("--tags=a", "--tags=b,c")["tags"] == {"items": ["b", "c"]}


def test_labels_add_up_but_no_key_may_stand_twice(create):
    """Not even with the same value."""
    assert create("--labels=a=1", "--labels=b=2")["labels"] == {"a": "1", "b": "2"}
    with pytest.raises(ScriptRefused, match="names a twice"):
        create("--labels=a=1", "--labels=a=1")


def test_disks_add_up(create):
    """Each --create-disk is a disk."""
    assert len(create("--create-disk=name=a", "--create-disk=name=b")["disks"]) == 3


def test_metadata_may_be_given_only_once(create):
    """Unlike every other dictionary."""
    with pytest.raises(ScriptRefused, match="only once"):
        create("--metadata=a=1", "--metadata=b=2")


def test_an_earlier_value_must_be_right_although_a_later_one_replaces_it(create):
    """Gcloud reads both."""
    with pytest.raises(ScriptRefused, match="boot-disk-size"):
        create("--boot-disk-size=ten", "--boot-disk-size=10")


@pytest.mark.parametrize(
    "flags",
    [
        ("--address=1.2.3.4", "--no-address"),
        ("--image=a", "--image-family=b"),
        ("--no-scopes", "--scopes=a"),
        ("--node=a", "--node-group=b"),
        ("--no-confidential-compute", "--confidential-compute-type=SEV"),
        ("--custom-cpu=4",),
        ("--custom-vm-type=n2",),
        ("--boot-disk-kms-location=global",),
    ],
)
def test_flags_that_exclude_or_need_one_another_are_refused(flags, create):
    """A negated flag counts like the flag itself."""
    with pytest.raises(ScriptRefused, match=r"be used with|required with|beside"):
        create(*flags)


def test_global_flags_may_stand_between_the_words_of_the_command(send):
    """The one nearest to the end counts."""
    argv = ["-q", "--project=first-p", "compute", "--project", "second-p", "instances", "create", "vm"]
    (request,) = send(argv)
    assert "/projects/second-p/" in request.path


def test_flags_of_the_command_may_not_stand_between_its_words(send):
    """They are unknown there."""
    with pytest.raises(ScriptRefused, match="unknown flag '--zone=z'"):
        send(["compute", "--zone=z", "instances", "create", "vm"])


@pytest.mark.parametrize(
    ("flag", "reason"),
    [
        ("--impersonate-service-account=a@b.c", "own account"),
        ("--universe-domain=example.com", "public cloud"),
        ("--verbosity=DEBUG", "debug"),
        ("--format=nosuch", "format"),
        ("--access-token-file=nowhere", "not with the script"),
    ],
)
def test_a_global_flag_that_cannot_be_kept_is_refused(flag, reason, create):
    """Each says why."""
    with pytest.raises(ScriptRefused, match=reason):
        create(flag)


@pytest.mark.parametrize(
    "flag", ["--quiet", "--format=value(name)", "--verbosity=error", "--async", "--account=a@b.c"]
)
def test_a_global_flag_that_only_says_how_gcloud_runs_changes_nothing(flag, create):
    """The request is the same."""
    assert create(flag) == create()


def test_a_machine_may_be_named_by_its_url(send):
    """Project and zone come from it; the network stays that of the first machine's project."""
    first, second = send([*CREATE, "projects/q/zones/us-east1-c/instances/a", "b"])
    assert first.path == "/compute/v1/projects/q/zones/us-east1-c/instances"
    assert second.path == "/compute/v1/projects/demo-project/zones/us-central1-a/instances"
    assert second.body["networkInterfaces"][0]["network"].endswith("/projects/q/global/networks/default")


@pytest.mark.parametrize(
    "name", ["", "a/b", "projects/p/zones/instances/a", "https://example.com/a", "gs://a/b"]
)
def test_a_name_that_cannot_be_one_is_refused(name, send):
    """Compute Engine would refuse it in any case."""
    with pytest.raises(ScriptRefused):
        send([*CREATE, name])


def test_a_refusal_names_the_line_of_the_flag(run):
    """Words of one command may stand on different lines; here they all stand on the third."""
    with pytest.raises(ScriptRefused) as refusal:
        run(["echo"], ["ls"], ["gcloud", *CREATE, "vm", "--boot-disk-size=ten"])
    assert str(refusal.value).startswith("create script:3: --boot-disk-size: ")


def test_a_long_value_is_cut_short_in_a_refusal(create):
    """A startup script in a message would hide the message."""
    with pytest.raises(ScriptRefused) as refusal:
        create("--machine-type=https://example.com/" + "x" * 100_000)
    assert len(refusal.value.reason) < 600
