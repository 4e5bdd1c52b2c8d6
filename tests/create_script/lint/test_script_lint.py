"""What `script check` warns of: for each rule a script with the fault, and one without it, a fact apart."""

import json

import pytest

from spotwarden.create_script import Defaults
from spotwarden.create_script.lint import RULES, check

CONFIGURED = Defaults(project="demo-project", zone="us-central1-a")
VM = "gcloud compute instances create vm --zone=us-central1-a"
SPOT = f"{VM} --provisioning-model=SPOT --instance-termination-action=DELETE"
GPU = f"{VM} --accelerator=type=nvidia-l4,count=1"
TPU = f"{VM} --machine-type=ct6e-standard-4t"
TPU_IMAGE = "--image-family=ubuntu-accel-2404-amd64-tpu-tpu7x --image-project=ubuntu-os-accelerator-images"
MARKED = "--metadata=shutdown-script=x"


def meta(key: str, value: str) -> str:
    """A create with one metadata value, whatever signs that holds."""
    return f"{VM} --metadata=^@@^'{key}={value}'"


# rule: (warned of, let pass)
PAIRS = {
    "windows-line-ends": (f"{VM}\r\n", f"{VM}\n"),
    "byte-order-mark": (f"\ufeff#!/bin/bash\n{VM}", f"#!/bin/bash\n{VM}"),
    "typographic-signs": (f"{VM} --description=\u201chi\u201d", f'{VM} --description="hi"'),
    "unset-variable": (f"{VM} --labels=a=$TEAM", f"TEAM=x\n{VM} --labels=a=$TEAM"),
    "several-creates": (
        f"{VM}\n{VM.replace('create vm', 'create two')}",
        VM.replace("create vm", "bulk create --name-pattern=vm-# --count=2"),
    ),
    "cut-off-flags": (f"{VM} \\\n # later\n --no-address", f"{VM} \\\n --no-address # later"),
    "glued-flags": (
        f"{VM} --machine-type=e2-small\\\n--no-address",
        f"{VM} --machine-type=e2-small \\\n--no-address",
    ),
    "repeated-flag": (f"{VM} --tags=a --tags=b", f"{VM} --labels=a=1 --labels=b=2"),
    "unused-reservation": (f"{VM} --reservation=r", f"{VM} --reservation=r --reservation-affinity=specific"),
    "no-zone": ("gcloud compute instances create vm", VM),
    "strange-zone": ("gcloud compute instances create vm --zone=zone=us-central1-a", VM),
    "stops-early": (f"{VM}\nif true; then", f"{VM}\nif true; then :; fi"),
    "gcloud-versions": (
        f"{VM} --image-family=f --image-project=almalinux-cloud",
        f"{VM} --image-family=f --image-project=debian-cloud",
    ),
    "no-shutdown-script": (SPOT, f"{SPOT} {MARKED}"),
    "no-termination-action": (f"{VM} --provisioning-model=SPOT", SPOT),
    "no-maintenance-policy": (GPU, f"{GPU} --maintenance-policy=TERMINATE"),
    "old-preemptible": (f"{VM} --preemptible", SPOT),
    "tied-to-its-zone": (f"{SPOT} --disk=name=data", f"{SPOT} --create-disk=name=data,size=10"),
    "image-without-tpu": (TPU, f"{TPU} {TPU_IMAGE}"),
    "spot-tpu-stops": (
        f"{TPU} --provisioning-model=SPOT --instance-termination-action=STOP",
        f"{TPU} --provisioning-model=SPOT --instance-termination-action=DELETE",
    ),
    "tpu-not-created": (f"{VM} --machine-type=ct5lp-hightpu-4t", TPU),
    "joined-lines": (
        meta("startup-script", "apt-get update \\\napt-get upgrade"),
        meta("startup-script", "docker run \\\n -v a:b"),
    ),
    "zone-zone": (
        meta("startup-script", "gcloud compute instances delete x --zone=zone=us-east1-b"),
        meta("startup-script", "gcloud compute instances delete x --zone=us-east1-b"),
    ),
    "split-metadata": (
        f"{VM} --metadata='startup-script=echo a, b=2'",
        meta("startup-script", "echo a, b=2"),
    ),
    "secret": (meta("db-password", "hunter22"), meta("db-password", "projects/p/secrets/s")),
}


def rules(text: str) -> set[str]:
    """The names of the rules that speak up for a script."""
    return {warning.rule for warning in check(text.encode(), defaults=CONFIGURED).warnings}


@pytest.mark.parametrize("rule", PAIRS)
def test_a_rule_speaks_up(rule: str):
    """The script that has the fault is warned of."""
    assert rule in rules(PAIRS[rule][0])


@pytest.mark.parametrize("rule", PAIRS)
def test_a_rule_stays_silent(rule: str):
    """Its neighbour without the fault is not."""
    assert rule not in rules(PAIRS[rule][1])


def test_a_machine_with_tpus_cannot_be_migrated():
    """As one with GPUs; gcloud says nothing of either."""
    assert "no-maintenance-policy" in rules(TPU)
    assert "no-maintenance-policy" not in rules(f"{TPU} --maintenance-policy=TERMINATE")


def test_every_rule_has_such_a_pair():
    """No rule is left unproven: one pair each."""
    assert len(PAIRS) == len(RULES)


SECRETS = {
    "a private key": "-----BEGIN RSA PRIVATE KEY-----",
    "a token of a hub": "export T=hf_" + "a" * 34,
    "an exported token": "export WANDB_TOKEN=0123456789abcdef",
    "a key of an API": "AIza" + "A" * 35,
}
NO_SECRETS = {
    "a reference": "export TOKEN=$(gcloud secrets versions access latest --secret=t)",
    "a flag": "--max-tokens=512",
}


@pytest.mark.parametrize("value", SECRETS.values(), ids=SECRETS.keys())
def test_secrets_are_found_in_scripts_for_the_machine(value: str):
    """Whatever the key is called."""
    assert "secret" in rules(meta("startup-script", value))


@pytest.mark.parametrize("value", NO_SECRETS.values(), ids=NO_SECRETS.keys())
def test_what_only_sounds_like_a_secret_is_let_pass(value: str):
    """A value that is fetched on the machine is no secret here."""
    assert "secret" not in rules(meta("startup-script", value))


JOINS = {
    "the first line": "#!/bin/bash \\\necho hi",
    "a command behind a command": "pip install x \\\npython3 train.py",
    "an assignment": "cd /opt \\\nA=1",
}
JOINS_NOT = {
    "a list of options": "docker run \\\n  --gpus all \\\n  image",
    "an and": "cd /opt && \\\npython3 train.py",
    "a pipe": "cat x | \\\ngrep y",
    "a comment": "# see \\\npython3 train.py",
}


@pytest.mark.parametrize("script", JOINS.values(), ids=JOINS.keys())
def test_backslashes_that_join_commands_are_found(script: str):
    """What begins the next line is no command any more."""
    assert "joined-lines" in rules(meta("startup-script", script))


@pytest.mark.parametrize("script", JOINS_NOT.values(), ids=JOINS_NOT.keys())
def test_backslashes_that_are_meant_are_let_pass(script: str):
    """Continued commands are usual in such scripts, too."""
    assert "joined-lines" not in rules(meta("startup-script", script))


def test_a_check_says_in_words_what_is_launched():
    """Name, place, machine, accelerators, model, disks, account, metadata."""
    machine = "--machine-type=g2-standard-8 --accelerator=type=nvidia-l4,count=1 --boot-disk-size=200GB"
    text = f"{SPOT} {machine} {MARKED}"
    (launch,) = check(text.encode(), defaults=CONFIGURED).launches
    for word in (
        "vm",
        "us-central1-a",
        "demo-project",
        "g2-standard-8",
        "1 x nvidia-l4",
        "spot",
        "deleted",
        "200 GB",
    ):
        assert word in launch


def test_a_limit_of_time_is_described_as_people_write_it():
    """Not in the seconds of the API."""
    report = check(f"{SPOT} --max-run-duration=90m".encode(), defaults=CONFIGURED)
    assert "runs for at most 1h30m" in report.launches[0]


def test_a_gang_is_described_as_one():
    """With its count, its pattern and its place."""
    text = "gcloud compute instances bulk create --name-pattern=w-# --count=4 --min-count=2 --region=us-east1"
    (launch,) = check(text.encode(), defaults=CONFIGURED).launches
    assert launch.startswith("4 instances (at least 2) named w-# in region us-east1")


def test_commands_beside_the_creates_are_named():
    """A re-run leaves them out, so a person should know."""
    report = check(f"{VM}\ngcloud compute ssh vm --command=ls\n".encode(), defaults=CONFIGURED)
    assert any("line 2" in told and "ssh" in told and "after" in told for told in report.rest)


REFUSED = {
    "what is not certain": f"{VM}-$(date)",
    "what gcloud refuses": f"{VM} --machine-typ=x",
    "nothing launched": "echo hello",
    "an exit before the create": f"exit 1\n{VM}",
    "a syntax error before the create": f"fi\n{VM}",
}


@pytest.mark.parametrize("script", REFUSED.values(), ids=REFUSED.keys())
def test_what_recovery_could_not_run_again_is_reported(script: str):
    """As a refusal in the report, not as an error."""
    report = check(script.encode(), defaults=CONFIGURED)
    assert not report.can_run_again
    assert report.refusal is not None
    assert report.launches == ()


def test_text_rules_speak_up_for_refused_scripts_too():
    """So that the reason of the refusal can be understood."""
    report = check(f"{VM}-$(date)\r\n".encode(), defaults=CONFIGURED)
    assert [warning.rule for warning in report.warnings] == ["windows-line-ends"]


def test_findings_come_by_line():
    """As a person reads the file."""
    text = f"A=1\n{VM} --tags=a --tags=b\ngcloud compute instances create two\n"
    lines = [warning.line for warning in check(text.encode(), defaults=CONFIGURED).warnings]
    assert lines == sorted(lines) == [2, 3, 3]


def test_a_report_can_be_told_as_text_alone():
    """Nothing in it but texts and numbers."""
    report = check(VM.encode(), defaults=CONFIGURED)
    assert json.loads(json.dumps([report.launches, report.rest, report.warnings])) is not None
