"""Kinds of VM and regions for which the policy would stop a job: refused, or left out and told."""

from datetime import UTC, datetime, timedelta

import click
import pytest
from msgspec.structs import replace

from spotwarden.cli.launching.compliance import check_allowed
from spotwarden.create_script.request.stored import launch_of
from spotwarden.layout import JobFileName
from spotwarden.model.governance import Mode, Remedy
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import Rung, VmModel
from spotwarden.model.launch import StoredScript
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.policy import Policy
from spotwarden.model.rule_limits import ComplianceLimits
from tests.cli.logged import Speaker

SCRIPT = "gcloud compute instances create job --zone=us-central1-a --machine-type=g2-standard-8"
ON_SPOT = " --provisioning-model=SPOT"
SPOT, FLEX, STANDARD = (Rung(model=model, up_to=timedelta(hours=1)) for model in VmModel)
SPOT_ONLY, AT_HOME = {"provisioning": ("SPOT",)}, {"regions": ("us-central1",)}
SOON = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def check():
    """Ask whether a job may be launched under these limits of compliance."""

    def asked(limits, file, placement=None, mode=Mode.ENFORCE, words=ON_SPOT):
        held = ComplianceLimits(remedy=Remedy.STOP, grace=timedelta(hours=2), **limits)
        policy = Policy(version="t", mode=mode, compliance=held, placement=placement or PlacementLimits())
        script = StoredScript(name="s.sh", text=f"{SCRIPT}{words}\n".encode(), generation=1)
        check_allowed(replace(Speaker().context, policy=policy), launch_of(script, "p"), file, "ada")

    return asked


@pytest.mark.parametrize(
    ("limits", "file", "words", "says"),
    [
        (
            SPOT_ONLY,
            JobFile(ladder=(SPOT, STANDARD)),
            ON_SPOT,
            (
                "`ladder` of job.toml: the provisioning model 'STANDARD' is not among SPOT; VMs of other"
                " models are stopped 2h after a warning (compliance.provisioning). Nothing was sent."
            ),
        ),
        (
            SPOT_ONLY,
            JobFile(ladder=(SPOT, FLEX)),
            ON_SPOT,
            "`ladder` of job.toml: the provisioning model 'FLEX",
        ),
        (
            SPOT_ONLY,
            JobFile(on_demand_after=3),
            ON_SPOT,
            "`on_demand_after` of job.toml: the provisioning model",
        ),
        (SPOT_ONLY, JobFile(), "", "can't launch it: the provisioning model 'STANDARD' is not among SPOT;"),
        (
            AT_HOME,
            JobFile(places=("us-central1-b", "us-east4", "europe-west4-a")),
            ON_SPOT,
            (
                "`places` of job.toml: the region 'us-east4' is not among us-central1; VMs in other regions"
                " are stopped 2h after a warning (compliance.regions); `places` of job.toml: the region 'eu"
            ),
        ),
        ({"regions": ("europe-*",)}, JobFile(), ON_SPOT, "can't launch it: the region 'us-central1' is not"),
    ],
)
def test_what_its_owner_asks_for_and_would_be_stopped_is_refused(check, limits, file, words, says):
    """With every reason; where the policy only observes, the owner is told afterwards, as ever."""
    with pytest.raises(click.UsageError) as refused:
        check(limits, file, words=words)
    assert says in refused.value.message
    check(limits, file, mode=Mode.OBSERVE, words=words)


@pytest.mark.parametrize(
    ("limits", "file", "placement", "says"),
    [
        (
            SPOT_ONLY,
            JobFile(),
            {"ladder": (SPOT, STANDARD)},
            "the policy's ladder asks for STANDARD, which is",
        ),
        (SPOT_ONLY, JobFile(), {"on_demand_after": 2}, "the policy's on_demand_after asks for STANDARD"),
        (
            SPOT_ONLY,
            JobFile(deadline=SOON),
            {},
            "its deadline asks for STANDARD, which is left out: compliance",
        ),
        (
            AT_HOME,
            JobFile(),
            {"regions": ("us-central1", "us-east4")},
            "does not move to us-east4: compliance",
        ),
    ],
)
def test_what_only_the_policy_asks_for_is_left_out_and_told(capsys, check, limits, file, placement, says):
    """The job is launched without it."""
    check(limits, file, PlacementLimits(**placement))
    assert says in capsys.readouterr().err


def test_a_ladder_of_the_policy_of_which_nothing_is_left_leaves_the_kind_of_the_script(check):
    """That is refused where it would be stopped, too."""
    limits = PlacementLimits(ladder=(FLEX,))
    check(SPOT_ONLY, JobFile(), limits)
    with pytest.raises(click.UsageError, match="'STANDARD' is not among SPOT"):
        check(SPOT_ONLY, JobFile(), limits, words="")


@pytest.mark.parametrize(
    ("limits", "file", "placement"),
    [
        (SPOT_ONLY, JobFile(ladder=(SPOT,)), {"ladder": (STANDARD,)}),
        (SPOT_ONLY, JobFile(), {}),
        ({}, JobFile(ladder=(FLEX, STANDARD), places=("us-east4",)), {}),
        (AT_HOME, JobFile(places=()), {"regions": ("us-east4",)}),
        (AT_HOME, JobFile(), {"regions": ("us-east4",), "move": False}),
    ],
)
def test_what_would_not_be_stopped_is_no_word_worth(capsys, check, limits, file, placement):
    """Nor what the job never becomes."""
    check(limits, file, PlacementLimits(**placement))
    assert capsys.readouterr().err == ""


def test_submit_refuses_a_stored_ladder_that_the_policy_would_stop(workstation, tmp_path, monkeypatch):
    """Before anything is sent."""
    monkeypatch.chdir(tmp_path)
    limits = '[compliance]\nprovisioning = ["SPOT"]\nremedy = "stop"\n'
    (tmp_path / "policy.toml").write_text(f'version = "1"\nmode = "enforce"\n{limits}')
    script = tmp_path / "create-instance.sh"
    script.write_text(f"{SCRIPT}{ON_SPOT}\n")
    name = workstation.layout.build(JobFileName(job="job"))
    text = b'ladder = [{ model = "spot", up_to = "1h" }, { model = "standard" }]\n'
    workstation.store.write(name, text, generation=None)
    assert "`ladder` of job.toml: the provisioning model" in workstation.refused("submit", str(script))
    assert [entry.name for entry in workstation.store.entries("")] == [name]


def test_run_refuses_a_machine_on_demand_where_only_spot_is_allowed(workstation, tmp_path, monkeypatch):
    """As it does a machine type."""
    monkeypatch.chdir(tmp_path)
    limits = '[compliance]\nprovisioning = ["SPOT"]\nremedy = "stop"\n'
    (tmp_path / "policy.toml").write_text(f'version = "1"\nmode = "enforce"\n{limits}')
    words = (
        "run",
        "--job",
        "job",
        "--zone",
        "us-central1-a",
        "--no-follow",
        "--machine",
        "e2-small",
        "--on-demand",
    )
    assert "provisioning model 'STANDARD' is not among SPOT" in workstation.refused(*words, "--", "true")
    assert workstation.store.entries("") == []
