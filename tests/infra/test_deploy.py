"""./deploy.sh gcp, with tools that only pretend: what it does, in which order, and again."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.infra.deploying.machine import ALL, KEPT, PROJECT, ROOT, Machine, deployed, found, missing, project

CHANGES = (
    " apply ",
    "secrets versions add",
    "buckets create",
    "buckets update",
    "services enable",
    "storage cp",
    "storage rm",
)
SMTP = {"SPOTWARDEN_SMTP": "smtps://user@mail.example.com:465", "SPOTWARDEN_SMTP_PASSWORD": "hunter2-hunter2"}


@pytest.fixture
def machine(tmp_path):
    """A machine with a copy of the tree."""
    return Machine(tmp_path)


def changing(machine):
    """The command lines that change anything in Google Cloud."""
    tools = ("gcloud", "terraform")
    return [one for one in machine.lines if one.startswith(tools) and any(mark in one for mark in CHANGES)]


def test_a_first_deployment_goes_in_order(machine):
    """Look, stage, show; then state, places of secrets, their values, the rest, and the doctor."""
    done = machine.deploy(*ALL, "--yes")
    assert done.returncode == 0, done.stderr
    assert machine.order(
        "projects describe", "testIamPermissions", "stage.py", "terraform", "buckets create", "--versioning",
        "-target=google_secret_manager_secret.secret", "secrets versions add", "spotwarden doctor",
    ) == [
        "terraform", "projects describe", "testIamPermissions", "stage.py", "terraform", "buckets create",
        "--versioning", "terraform", "-target=google_secret_manager_secret.secret", "secrets versions add",
        "terraform", "spotwarden doctor",
    ]  # fmt: skip


def test_a_first_deployment_observes(machine):
    """What it would do is to be seen before it does it."""
    machine.deploy(*ALL, "--yes")
    assert machine.settings()["mode"] == "observe"


def test_a_first_deployment_cannot_enforce(machine):
    """It says how to go about it, and has changed nothing."""
    done = machine.deploy(*ALL, "--enforce", "--yes")
    assert done.returncode == 1
    assert "a first deployment only observes" in done.stderr
    assert changing(machine) == []


def test_the_state_is_kept_in_a_bucket_that_forgets_nothing_and_is_nobody_elses(machine):
    """Uniform access, no public access, versions."""
    machine.deploy(*ALL, "--yes")
    (create,) = machine.said("buckets create")
    assert "gs://my-project-spotwarden-state" in create
    assert "--uniform-bucket-level-access" in create
    assert "--public-access-prevention" in create
    assert machine.said("buckets update", "--versioning")


def test_a_plan_changes_nothing_before_there_is_a_state_bucket(machine):
    """It plans from a copy whose state is a file."""
    done = machine.deploy(*ALL, "--plan")
    assert done.returncode == 0, done.stderr
    assert changing(machine) == []
    assert machine.said("terraform", "build/deploy/my-project/copy", "plan")
    assert "Nothing was changed" in done.stderr


def test_a_plan_of_what_is_deployed_changes_nothing_and_takes_no_lock(machine):
    """New secrets are told, and not added."""
    done = machine.deploy("--project", PROJECT, "--plan", answers=deployed(), **SMTP)
    assert done.returncode == 0, done.stderr
    assert changing(machine) == []
    assert machine.said("terraform", " plan ", "-lock=false")
    assert "spotwarden-smtp: version 1 is new" in done.stderr


def test_what_was_said_once_need_not_be_said_again(machine):
    """Also the accounts of job VMs: to forget them would take their rights away."""
    done = machine.deploy("--project", PROJECT, "--yes", answers=deployed())
    assert done.returncode == 0, done.stderr
    told = machine.settings()
    assert {name: told[name] for name in KEPT} == KEPT


@pytest.mark.parametrize("mode", ["observe", "enforce"])
def test_a_deployment_that_says_no_mode_keeps_it(machine, mode):
    """Neither does an upgrade begin to act, nor does it stop."""
    machine.deploy("--project", PROJECT, "--yes", answers=deployed({**KEPT, "mode": mode}))
    assert machine.settings()["mode"] == mode


@pytest.mark.parametrize(("before", "said"), [("observe", "enforce"), ("enforce", "observe")])
def test_the_mode_can_be_changed_later(machine, before, said):
    """By one word, in both directions."""
    machine.deploy("--project", PROJECT, f"--{said}", "--yes", answers=deployed({**KEPT, "mode": before}))
    assert machine.settings()["mode"] == said


def test_a_second_deployment_applies_the_plan_that_was_shown(machine):
    """One plan, one apply; nothing is made again, and no secret gets a new version."""
    done = machine.deploy("--project", PROJECT, "--yes", answers=deployed())
    assert done.returncode == 0, done.stderr
    assert len(machine.said("terraform", " plan ")) == 1
    (apply,) = machine.said("terraform", " apply ")
    assert apply.endswith("build/deploy/my-project/plan")
    assert machine.said("spotwarden doctor --region us-central1", "--mail-to ops@example.com")
    assert machine.said("buckets create") == machine.said("versions add") == []


def test_nothing_is_applied_where_nothing_has_changed(machine):
    """The doctor looks all the same."""
    nothing = found("^terraform [^ ]+ plan ", status=0)
    done = machine.deploy("--project", PROJECT, answers=[nothing, *deployed()])
    assert done.returncode == 0, done.stderr
    assert changing(machine) == []
    assert machine.said("spotwarden doctor")


def test_nothing_is_changed_without_being_asked_for(machine):
    """At no terminal nobody can be asked."""
    done = machine.deploy(*ALL)
    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert changing(machine) == []


def test_terraform_gets_all_that_was_said(machine):
    """A list is what is said each time."""
    accounts = [f"{name}@my-project.iam.gserviceaccount.com" for name in ("a", "b")]
    words = [word for one in accounts for word in ("--job-vm", one)]
    sender = "Spotwarden <spotwarden@example.com>"
    machine.deploy(
        *ALL, *words, "--act-as", accounts[0], "--mail-from", sender, "--prefix", "users/",
        "--viewer", "group:ml@example.com", "--yes",
    )  # fmt: skip
    told = machine.settings()
    assert told["viewers"] == ["group:ml@example.com"]
    assert (told["job_vms"], told["act_as"]) == (accounts, accounts[:1])
    assert (told["mail_from"], told["prefix"]) == (sender, "users/")


def test_a_grant_that_does_not_hold_yet_is_waited_for_once(machine):
    """The first apply of all may come too early for grants that it has made itself."""
    early = found("^terraform [^ ]+ apply -input=false [^ ]+/plan$", "", 1, "denied", 1)
    done = machine.deploy(*ALL, "--yes", answers=[early, *project()])
    assert done.returncode == 0, done.stderr
    assert machine.order("/plan", "sleep 120")[-3:] == ["/plan", "sleep 120", "/plan"]


def test_a_first_apply_is_tried_three_times_and_no_more(machine):
    """What is wrong for seven minutes is no grant on its way."""
    broken = found("^terraform [^ ]+ apply -input=false [^ ]+/plan$", "", 1, "denied")
    done = machine.deploy(*ALL, "--yes", answers=[broken, *project()])
    assert done.returncode == 1
    assert "terraform apply failed" in done.stderr
    assert len(machine.said("sleep 120")) == 2
    assert machine.said("spotwarden doctor") == []


def test_an_apply_that_fails_later_is_not_repeated(machine):
    """Something is wrong; whoever deploys is told, and what was said is kept."""
    broken = found("^terraform [^ ]+ apply ", "", 1, "denied")
    done = machine.deploy("--project", PROJECT, "--yes", answers=[broken, *deployed()])
    assert done.returncode == 1
    assert "terraform apply failed" in done.stderr
    assert machine.said("sleep") == machine.said("spotwarden doctor") == []


def test_an_api_that_was_just_turned_on_is_waited_for_once(machine):
    """The places of secrets are the first that rests on one."""
    early = found("-target=google_secret_manager_secret.secret", "", 1, "SERVICE_DISABLED", 1)
    done = machine.deploy(*ALL, "--yes", answers=[early, *project()])
    assert done.returncode == 0, done.stderr
    assert machine.order("-target=", "sleep 120", "versions add") == [
        "-target=", "sleep 120", "-target=", "versions add"
    ]  # fmt: skip


def test_googles_agents_are_there_before_they_are_granted_anything(machine):
    """In a project that is new they are not; the second deployment of all finds them, and asks again."""
    for answers in (project(), deployed()):
        machine.deploy(*ALL, "--yes", answers=answers)
        asked = machine.said("curl", "generateServiceIdentity")
        assert [line.split("services/")[1].split(":")[0] for line in asked] == [
            "pubsub.googleapis.com",
            "logging.googleapis.com",
        ]
        assert machine.order("generateServiceIdentity", "/plan")[-1] == "/plan"
        assert not machine.said("a-token")


def test_an_agent_that_cannot_be_asked_for_holds_nobody_up(machine):
    """It is there in most projects."""
    done = machine.deploy(*ALL, "--yes", answers=[found("generateServiceIdentity", status=22), *project()])
    assert done.returncode == 0, done.stderr
    assert "agent of pubsub couldn't be requested" in done.stderr


def test_links_can_be_done_without(machine):
    """An organization may forbid what anybody may call; what was said is kept."""
    machine.deploy(*ALL, "--no-links", "--plan")
    assert machine.settings()["links"] == "false"
    machine.deploy("--project", PROJECT, "--plan", answers=deployed({**KEPT, "links": "false"}))
    assert machine.settings()["links"] == "false"
    machine.deploy("--project", PROJECT, "--links", "--plan", answers=deployed({**KEPT, "links": "false"}))
    assert machine.settings()["links"] == "true"


def test_what_was_said_and_cannot_be_read_is_not_taken_for_nothing(machine):
    """A deployment that acts would be made to observe."""
    broken = missing("^gcloud storage cat", "ERROR: 503 backend error")
    done = machine.deploy(*ALL, "--yes", answers=[broken, *deployed()])
    assert done.returncode == 1
    assert "can't be read" in done.stderr
    assert changing(machine) == []


def test_the_doctors_findings_are_the_deployments(machine):
    """Deployed is not yet well."""
    done = machine.deploy(*ALL, "--yes", answers=[found("spotwarden doctor", status=1), *project()])
    assert done.returncode == 1
    assert "spotwarden doctor found problems" in done.stderr


def test_what_is_removed_is_everything_but_the_bucket(machine):
    """It says what stays; no bucket is deleted by hand, least of all the jobs'."""
    done = machine.deploy("--project", PROJECT, "--destroy", "--yes", answers=deployed())
    assert done.returncode == 0, done.stderr
    assert machine.said("terraform", " plan ", "-destroy")
    assert (
        machine.said("buckets delete")
        == [one for one in machine.lines if "rm" in one and "ml-jobs" in one]
        == []
    )
    assert "What stays: gs://ml-jobs" in done.stderr
    assert machine.said("spotwarden doctor") == []


def test_nothing_is_removed_where_nothing_is_deployed(machine):
    """Nor in a project that another state bucket knows of."""
    done = machine.deploy("--project", PROJECT, "--destroy", "--yes")
    assert done.returncode == 1
    assert "has no deployment in" in done.stderr
    assert machine.said("terraform", " plan ") == []


def test_a_policy_with_faults_is_not_deployed(machine):
    """Half of a policy is worse than the old one."""
    done = machine.deploy(*ALL, "--yes", answers=[found("spotwarden policy check", status=1), *project()])
    assert done.returncode == 1
    assert "has errors" in done.stderr
    assert changing(machine) == []


def test_only_the_two_apis_that_terraform_needs_first_are_turned_on_by_hand(machine):
    """It turns on the others itself."""
    done = machine.deploy(
        *ALL, "--yes", answers=[found("^gcloud services list", "pubsub.googleapis.com\n"), *project()]
    )
    assert done.returncode == 0, done.stderr
    on = [line.split()[3] for line in machine.said("services enable")]
    assert sorted(on) == ["cloudresourcemanager.googleapis.com", "serviceusage.googleapis.com"]
    assert "APIs that are off and get turned on" in done.stderr


# --- Secrets.


def test_a_secret_is_on_no_command_line_in_no_file_and_in_no_output(machine):
    """It is heard by gcloud alone, on its standard input."""
    done = machine.deploy(*ALL, "--yes", **SMTP)
    assert done.returncode == 0, done.stderr
    heard = {one["line"].split()[4]: one["heard"] for one in machine.calls if "versions add" in one["line"]}
    assert heard["spotwarden-smtp-password"] == SMTP["SPOTWARDEN_SMTP_PASSWORD"]
    written = [
        file.read_text(errors="replace") for file in (machine.root / "build").rglob("*") if file.is_file()
    ]
    for secret in (*heard.values(), "a-token"):
        assert not [line for line in machine.lines if secret in line]
        assert not [text for text in (*written, done.stdout, done.stderr) if secret in text]


def test_terraform_hears_of_versions_only(machine):
    """Numbers, pinned: a new one makes a new revision."""
    machine.deploy(*ALL, "--yes", **SMTP)
    names = ("SPOTWARDEN_SMTP", "SPOTWARDEN_SMTP_PASSWORD", "SPOTWARDEN_SIGNING_KEYS")
    assert machine.settings()["secret_versions"] == dict.fromkeys(names, "1")


def test_a_secret_is_read_from_a_file(machine, tmp_path):
    """As a mounted one is."""
    (tmp_path / "hooks").write_text('{"ml-chat": {}}\n')
    machine.deploy(*ALL, "--yes", SPOTWARDEN_HOOKS_FILE=str(tmp_path / "hooks"))
    (one,) = [one for one in machine.calls if "versions add spotwarden-hooks" in one["line"]]
    assert one["heard"] == '{"ml-chat": {}}'


def test_files_are_named_from_where_one_stands(machine, tmp_path, monkeypatch):
    """deploy.sh works in a folder of its own; and the doctor is asked about what was deployed."""
    spotwarden = machine.root.parent / "venv/bin/spotwarden"
    spotwarden.rename(spotwarden.with_name("spotwarden-itself"))
    telling = 'echo "$SPOTWARDEN_POLICY $SPOTWARDEN_PREFIX" >"$HOME/told"'
    spotwarden.write_text(f'#!/bin/sh\n{telling}\nexec "$0-itself" "$@"\n')
    spotwarden.chmod(0o755)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/hooks").write_text("{}")
    monkeypatch.chdir(tmp_path / "mine")
    words = (*ALL, "--prefix", "users/", "--policy", "own.toml", "--yes")
    done = machine.deploy(*words, SPOTWARDEN_HOOKS_FILE="hooks")
    assert done.returncode == 0, done.stderr
    assert machine.said(f"policy check {tmp_path}/mine/own.toml")
    assert machine.said("stage.py", f"--policy {tmp_path}/mine/own.toml")
    assert machine.said("versions add spotwarden-hooks")
    assert (machine.root / "told").read_text() == f"{tmp_path}/mine/own.toml users/\n"


def test_a_secret_that_is_the_same_gets_no_new_version(machine):
    """And one that is not given stays."""
    answers = [
        found("versions list spotwarden-smtp ", "2\n"),
        found("versions access 2 --secret=spotwarden-smtp ", SMTP["SPOTWARDEN_SMTP"] + "\n"),
        *deployed(),
    ]
    given = {"SPOTWARDEN_SMTP": SMTP["SPOTWARDEN_SMTP"]}
    done = machine.deploy("--project", PROJECT, "--yes", answers=answers, **given)
    assert done.returncode == 0, done.stderr
    assert machine.said("versions add") == []
    assert machine.settings()["secret_versions"] == {"SPOTWARDEN_SMTP": "2", "SPOTWARDEN_SIGNING_KEYS": "3"}


def test_signing_keys_are_made_once(machine):
    """32 bytes of chance; later ones leave links in mails good."""
    machine.deploy(*ALL, "--yes")
    (one,) = [one for one in machine.calls if "versions add spotwarden-signing-keys" in one["line"]]
    name, _, key = one["heard"].partition(":")
    assert name == "k1"
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}=", key)
    machine.deploy("--project", PROJECT, "--yes", answers=deployed())
    assert machine.said("versions add") == []


def test_a_key_that_could_not_be_made_is_no_key(machine):
    """A machine whose base64 says nothing: an empty key would sign, and anybody could."""
    machine.pretend("base64")
    done = machine.deploy(*ALL, "--yes")
    assert done.returncode != 0
    assert "couldn't create a signing key" in done.stderr
    assert machine.said("versions add") == []
    assert machine.said("terraform", "apply") == []


def test_rotated_keys_sign_with_a_new_one_and_still_know_the_old(machine):
    """The newest stands first."""
    done = machine.deploy("--project", PROJECT, "--rotate-keys", "--yes", answers=deployed())
    assert done.returncode == 0, done.stderr
    (one,) = [one for one in machine.calls if "versions add" in one["line"]]
    assert one["heard"].startswith("k3:")
    assert one["heard"].endswith(",k2:bmV3,k1:b2xk")
    assert machine.settings()["secret_versions"]["SPOTWARDEN_SIGNING_KEYS"] == "4"


def test_keys_that_cannot_be_read_are_not_rotated(machine):
    """To write new ones would make every link in a mail that was sent worthless."""
    answers = [missing("versions access"), *deployed()]
    done = machine.deploy("--project", PROJECT, "--rotate-keys", "--yes", answers=answers)
    assert done.returncode == 1
    assert "cannot be rotated" in done.stderr
    assert changing(machine) == []


@pytest.mark.parametrize("asked", ["secrets describe", "versions list"])
def test_keys_that_cannot_be_looked_at_are_not_made_anew(machine, asked):
    """A moment's fault of Google's would end all links that were ever sent."""
    answers = [missing(asked, "ERROR: 503 backend error"), *deployed()]
    done = machine.deploy("--project", PROJECT, "--yes", answers=answers)
    assert done.returncode == 1
    assert "spotwarden-hooks" in done.stderr
    assert changing(machine) == []


def test_no_tool_inherits_a_secret_and_no_trace_shows_one(machine):
    """Packages that are installed run code of their own; `bash -x` writes down every word."""
    (machine.tools / "gcloud").rename(machine.tools / "gcloud-itself")
    (machine.tools / "gcloud").write_text('#!/bin/sh\nenv >>"$HOME/env"\nexec "$0-itself" "$@"\n')
    (machine.tools / "gcloud").chmod(0o755)
    script = machine.root / "deploy.sh"
    script.write_text(script.read_text().replace("set -euo", "set -xeuo"))
    done = machine.deploy(
        *ALL, "--yes", answers=[found("gcloud-itself secrets versions add", "1\n"), *given()], **SMTP
    )
    assert done.returncode == 0, done.stderr
    assert "Tracing is turned off" in done.stderr
    inherited = (machine.root / "env").read_text()
    assert "SPOTWARDEN_VENV" in inherited
    for secret in SMTP.values():
        assert secret not in inherited
        assert secret not in done.stderr


def given():
    """The answers of a project to a tool that was given another name."""
    return [[one[0].replace("^gcloud", "^gcloud-itself"), *one[1:]] for one in project()]


def test_somebody_elses_version_of_a_secret_is_noticed(machine):
    """The plan that was shown names another number."""
    answers = [found("versions add spotwarden-signing-keys", "9\n"), *deployed()]
    done = machine.deploy("--project", PROJECT, "--rotate-keys", "--yes", answers=answers)
    assert done.returncode == 1
    assert "meanwhile" in done.stderr
    assert machine.said("terraform", " apply ") == []


def test_every_script_of_a_deployment_is_clean():
    """As shellcheck sees it; the parts have no first line by which the other check finds them."""
    parts = sorted((ROOT / "infra/deploy").glob("*.sh"))
    shellcheck = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run(
        [shellcheck, "-x", "deploy.sh", *parts], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


# --- Refusals: each says what is wrong and what to do, and nothing was changed.

REFUSALS = {
    "an old terraform": (found("^terraform version", '{"terraform_version": "1.8.5"}'), "terraform is 1.8.5"),
    "a new terraform": (found("^terraform version", '{"terraform_version": "2.0.0"}'), "none of 2.x"),
    "nobody logged in": (found("^gcloud auth list"), "gcloud auth login"),
    "no credentials": (missing("^gcloud auth application-default"), "gcloud auth application-default login"),
    "no project": (missing("^gcloud projects describe"), "unknown project my-project"),
    "a project that goes": (
        found("^gcloud projects describe", "4711\tDELETE_REQUESTED\n"),
        "about to be deleted",
    ),
    "billing off": (found("^gcloud billing", "False\n"), "billing is off"),
    "APIs unseen": (missing("^gcloud services list"), "serviceusage.services.list"),
    "no bucket": (missing("describe gs://ml-jobs"), "there is no bucket gs://ml-jobs"),
    "a bucket unseen": (
        missing("describe gs://ml-jobs", "HTTPError 403: denied"),
        "you have no access to gs://ml-jobs",
    ),
    "another's bucket": (found("describe gs://ml-jobs", "1234\n"), "gs://ml-jobs is in another project"),
    "another's state": (found("describe gs://my-project-spotwarden-state", "1234\n"), "--state-bucket"),
    "no rights": (
        found("^curl", '{"permissions": ["pubsub.topics.create"]}'),
        "you lack on my-project: artifactregistry",
    ),
    "no plan": (found("^terraform [^ ]+ plan ", status=1), "terraform plan failed"),
    "no init": (found("^terraform .*init", status=1), "terraform init failed"),
    "no staging": (found("stage.py", status=1), "staging failed"),
}


@pytest.mark.parametrize("trouble", REFUSALS)
def test_it_refuses_before_it_changes_anything(machine, trouble):
    """With the reason, and what to do."""
    answer, reason = REFUSALS[trouble]
    done = machine.deploy(*ALL, "--yes", answers=[answer, *project()])
    assert done.returncode == 1
    assert reason in done.stderr
    assert changing(machine) == []


@pytest.mark.parametrize("tool", ["terraform", "gcloud"])
def test_a_tool_that_is_missing_is_named(machine, tool):
    """With where to get it."""
    (machine.tools / tool).unlink()
    for name in ("bash", "dirname", "mkdir", "sed", "env", "cat"):
        (machine.tools / name).symlink_to(f"/usr/bin/{name}")
    done = machine.deploy(*ALL, "--yes", PATH=str(machine.tools))
    assert done.returncode == 1
    assert f"{tool} is missing; install" in done.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "--project is missing"),
        (("--project", "My_Project"), "--project is 'My_Project'"),
        ((*ALL, "--region", "us-central1-a"), "a region without a zone"),
        ((*ALL, "--bucket", "gs://ml-jobs"), "without gs://"),
        ((*ALL, "--alert-email", "ops"), "one mail address"),
        ((*ALL, "--prefix", "users"), "ends in /"),
        ((*ALL, "--plan", "--destroy"), "can't be used together"),
        ((*ALL, "--enforce", "--observe"), "can't be used together"),
        ((*ALL, "--links", "--no-links"), "can't be used together"),
        ((*ALL, "--region"), "--region needs a value"),
        (("--project=my-project",), "write a space, not"),
        ((*ALL, "--fast"), "unknown option --fast"),
    ],
)
def test_what_cannot_be_said_is_refused_before_anything_is_asked(machine, words, reason):
    """With status 2, as a misused command."""
    done = machine.deploy(*words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert machine.calls == []


def test_help_is_given_among_the_options_too(machine):
    """Nothing is asked for it."""
    done = machine.deploy("--project", PROJECT, "--help")
    assert (done.returncode, machine.calls) == (0, [])
    assert "--alert-email E" in done.stdout


def test_a_first_deployment_names_what_it_still_needs(machine):
    """All of it at once."""
    done = machine.deploy("--project", PROJECT, "--yes")
    assert done.returncode == 2
    assert "--region R, --bucket B, --alert-email E" in done.stderr


def test_a_deployment_does_not_move_to_another_bucket(machine):
    """Its jobs would be left alone without a word."""
    done = machine.deploy("--project", PROJECT, "--bucket", "other", "--yes", answers=deployed())
    assert done.returncode == 2
    assert "remove it first: --destroy" in done.stderr
    assert changing(machine) == []


def test_rights_that_cannot_be_asked_for_hold_nobody_up(machine):
    """The API that tells them may be off the first time."""
    done = machine.deploy(*ALL, "--yes", answers=[found("^curl", status=22), *project()])
    assert done.returncode == 0, done.stderr
    assert "can't be checked yet" in done.stderr


def test_the_settings_are_kept_where_the_next_deployer_finds_them(machine):
    """Beside the state, before the apply."""
    machine.deploy(*ALL, "--yes")
    marks = machine.order("storage cp", "/plan")
    assert marks[-2:] == ["storage cp", "/plan"]
    assert machine.said("storage cp", "gs://my-project-spotwarden-state/spotwarden/settings.tfvars.json")
    assert json.dumps(machine.settings())
