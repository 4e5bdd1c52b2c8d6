"""The stand-ins inside a machine, against the services of the local cloud."""

import pytest


def test_a_machine_deletes_itself(cloud, survivors):
    """`gcloud compute instances delete $(hostname) --zone=…` from inside ends the machine that runs it."""
    folder = cloud.create(
        "mortal-vm",
        """
        zone=$(curl -s -H Metadata-Flavor:Google http://metadata.google.internal/computeMetadata/v1/instance/zone)
        echo $SPOTWARDEN_SUPERVISOR > mark
        gcloud compute instances delete $(hostname) --zone=${zone##*/} --quiet
        touch outlived
        """,
    )
    cloud.wait_until(lambda: "mortal-vm" not in cloud.instances(), "it is still there")
    assert survivors((folder / "mark").read_text().strip()) == []
    assert not (folder / "outlived").exists()


def test_a_machine_switches_itself_off(cloud, survivors):
    """`sudo poweroff` stops the instance: it stays, TERMINATED, and none of its processes does."""
    folder = cloud.create("tired-vm", "echo $SPOTWARDEN_SUPERVISOR > mark; sudo poweroff; sleep 3000")
    path = "/compute/v1/projects/demo/zones/us-central1-a/instances/tired-vm"
    cloud.wait_until(lambda: cloud.call("GET", path)["status"] == "TERMINATED", "it still runs")
    assert survivors((folder / "mark").read_text().strip()) == []


def test_a_machine_with_a_local_ssd_says_what_becomes_of_it_when_it_stops_itself(cloud):
    """Without the flag the stop fails as with gcloud; the flag alone means that it is discarded."""
    folder = cloud.create(
        "fast-vm",
        """
        gcloud compute instances stop $(hostname) 2> refused
        gcloud compute instances stop $(hostname) --discard-local-ssd
        """,
        disks=[{"type": "SCRATCH", "initializeParams": {"diskType": "local-ssd"}}],
        machine="n1-standard-1",
    )
    path = "/compute/v1/projects/demo/zones/us-central1-a/instances/fast-vm"
    cloud.wait_until(lambda: cloud.call("GET", path)["status"] == "TERMINATED", "it still runs")
    assert "undefined value for `discard-local-ssd`" in (folder / "refused").read_text()
    assert "savedState" not in cloud.call("GET", path)["disks"][1]


def test_the_zone_mistake_fails_as_with_gcloud(shell):
    """`--zone=zone=…`, known from real scripts: the machine goes on, and the error says why."""
    said = shell("gcloud compute instances delete test-vm --zone=zone=us-central1-a -q; echo status $?")
    assert "ERROR: (gcloud.compute.instances.delete) Could not fetch resource:\n - " in said
    assert said.endswith("status 1\n")


def test_instances_can_be_looked_at_and_labelled_from_inside(shell):
    """The zone, where none is said, is the machine's own."""
    said = shell("""
        exec 2>/dev/null
        gcloud compute instances add-labels $(hostname) --labels=job=test,owner=ann
        gcloud compute instances remove-labels $(hostname) --labels=owner
        gcloud compute instances add-metadata $(hostname) --metadata=progress=half
        gcloud compute instances describe $(hostname) --format='value(name,status,labels,zone.basename())'
        gcloud compute instances list --filter=labels.job=test --format='csv[no-heading](name)'
        curl -s -H Metadata-Flavor:Google metadata/computeMetadata/v1/instance/attributes/progress
    """)
    assert said == "test-vm\tRUNNING\tjob=test\tus-central1-a\ntest-vm\nhalf"


def test_config_and_identity_are_the_machines(shell):
    """config, auth and projects answer from the environment, the metadata and what was set."""
    said = shell("""
        exec 2>/dev/null
        gcloud config get-value project
        gcloud config set compute/zone europe-west4-a && gcloud config get compute/zone
        gcloud auth list --format='value(account)' | grep -c @
        gcloud auth print-access-token | grep -c ^local-
        gcloud auth print-identity-token --audiences=https://me | grep -c '[.]'
        [ "$(gcloud projects describe demo --format='value(projectNumber)')" -gt 0 ] && echo number
    """)
    assert said == "demo\neurope-west4-a\n1\n1\n1\nnumber\n"


def test_a_message_and_a_log_entry_leave_the_machine(shell):
    """A topic that does not exist and a message that is not a JSON object are errors."""
    said = shell("""
        curl -s -X PUT "$SPOTWARDEN_LOCAL_URL/v1/projects/demo/topics/news" > /dev/null
        gcloud pubsub topics publish news --message=end --attribute=job=test --format='value(messageIds)' |
            grep -c .
        gcloud pubsub topics publish none --message=x 2> error || echo refused
        gcloud logging write training 'epoch 7' --severity=INFO 2>/dev/null && echo logged
        gcloud logging write training '[1]' --payload-type=json 2>/dev/null || echo not an object
    """)
    assert said == "1\nrefused\nlogged\nnot an object\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("hostname", "test-vm"),
        ("hostname -s", "test-vm"),
        ("hostname -f", "test-vm.us-central1-a.c.demo.internal"),
        ("hostname -d", "us-central1-a.c.demo.internal"),
        ("echo $HOSTNAME", "test-vm"),
    ],
)
def test_the_machine_knows_its_name(shell, command, said):
    """Not this computer's."""
    assert shell(command) == f"{said}\n"


def test_the_address_is_the_instances(shell, cloud):
    """`hostname -I` tells what Compute assigned."""
    vm = cloud.call("GET", "/compute/v1/projects/demo/zones/us-central1-a/instances/test-vm")
    assert shell("hostname -I").strip() == vm["networkInterfaces"][0]["networkIP"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sudo echo hi", "hi"),
        ("sudo -E -n -H echo hi", "hi"),
        ("sudo -u root echo hi", "hi"),
        ("sudo A=b bash -c 'echo $A'", "b"),
        ("sudo -i echo hi", "hi"),
        ("sudo -- echo -n", ""),
        ("sudo bash -c 'exit 7'; echo $?", "7"),
        ("sudo hostname", "test-vm"),
    ],
)
def test_sudo_runs_the_command(shell, command, said):
    """As it is: with its options, its environment and its status."""
    assert shell(command).strip() == said


def test_sudo_says_that_there_are_no_other_users(shell):
    """The command runs, but not silently as somebody else."""
    said = shell("sudo -u ann echo hi")
    assert said.splitlines()[0].startswith("sudo: the local cloud has one user only")
    assert said.splitlines()[1] == "hi"


def test_an_option_of_sudo_that_is_not_known_is_refused(shell):
    """Rather than taken for the command."""
    assert "does not take the option -Z" in shell("sudo -Z echo hi")


def test_only_what_is_in_a_machine_can_use_the_stand_ins(shell):
    """Elsewhere they say what is missing."""
    assert "works only inside a virtual machine" in shell("env -u GCE_METADATA_HOST hostname")


@pytest.mark.parametrize(
    ("command", "status", "words"),
    [
        (
            "gcloud compute instances delete",
            2,
            "argument INSTANCE_NAMES [INSTANCE_NAMES ...]: Must be specified.",
        ),
        (
            "gcloud compute instances delete a --zon=b",
            2,
            "unrecognized arguments: --zon=b (did you mean '--zone'?)",
        ),
        ("gcloud compute instances nope a", 2, "Invalid choice: 'nope'."),
        ("gcloud compute instances stop a --discard-local-ssd=no", 2, "Invalid flag value [no]"),
        ("gcloud compute instances list --limit=few", 2, "Value must be a positive integer"),
        ("gcloud compute instances describe none", 1, "was not found"),
        ("gcloud compute instances list --format=xml", 1, "knows the formats"),
        ("gcloud compute ssh test-vm", 1, "There is no SSH in the local cloud"),
        ("gcloud config get-value core/nope", 1, "knows the properties"),
        ("gcloud --zone=x compute instances list", 2, "unrecognized arguments: --zone=x"),
        (
            "gcloud storage cp nothing gs://bucket/x",
            1,
            "The following URLs matched no objects or files:\nnothing",
        ),
        ("gcloud storage ls gs://no-such-bucket", 1, "gs://no-such-bucket not found: 404."),
        ("gsutil cp nothing gs://bucket/x", 1, "CommandException: No URLs matched: nothing"),
        ("gsutil cp gs://bucket/none .", 1, "CommandException: No URLs matched: gs://bucket/none"),
        ("gsutil ls gs://no-such-bucket", 1, "BucketNotFoundException: 404"),
        ("gsutil ls gs://bucket/none", 1, "CommandException: One or more URLs matched no objects."),
        ("gsutil rsync none gs://bucket/x", 1, "does not name a directory, bucket, or bucket subdir."),
        ("gsutil cp -P a gs://bucket/x", 1, "option -P not recognized"),
        ("gsutil signurl key gs://bucket/x", 1, "Invalid command 'signurl'"),
        ("gsutil mb gs://bucket", 1, "ServiceException: 409"),
        ("gsutil", 1, "no command given"),
        ("hostname new-name", 1, "does not take 'new-name'"),
        ("shutdown soon", 1, "say now, +MINUTES or HH:MM"),
        ("sudo -i", 1, "name a command"),
        ("sudo no-such-command", 1, "command not found"),
    ],
)
def test_what_the_stand_ins_do_not_do_they_refuse(shell, command, status, words):
    """With the words and the status of the real command where there are such, and never with success."""
    said = shell(f"{command}; echo status $?")
    assert words in said
    assert said.endswith(f"status {status}\n")
