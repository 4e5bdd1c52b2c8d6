"""A budget that can't be enforced is refused before anything is sent."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest
from msgspec.structs import replace

from spotwarden.cli.launching.priced import check_priced
from spotwarden.create_script.request.stored import launch_of
from spotwarden.layout import JobFileName
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import Rung, VmModel
from spotwarden.model.launch import StoredScript
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.prices import VmKind
from spotwarden.recovery.kinds.unpriced_budget import kind_of
from tests.cli.logged import Speaker
from tests.contract.local_world import LocalWorld
from tests.recovery.slice_world import launch_of_slice

PRICES = Path(__file__).parents[2] / "infra/prices.toml"
RUN = ("run", "--job", "job", "--zone", "us-central1-a", "--no-follow")
COMMAND = ("--", "true")
SCRIPT = "gcloud compute instances create job --zone=us-central1-a --image-family=debian-12 --machine-type="
ON_SPOT = "--provisioning-model=SPOT"
UNKNOWN = "n4-custom-4-8192 (SPOT) has no known price in us-central1"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, served):
    """A folder of one's own, the prices of the repository, and Compute Engine, which knows its machines."""
    world = LocalWorld(served)
    monkeypatch.setenv("SPOTWARDEN_COMPUTE_ENDPOINT", world.url)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPOTWARDEN_PRICES", str(PRICES))
    yield tmp_path
    world.close()


def launch(words, *, bulk=False):
    """What a script with these words launches."""
    command = SCRIPT.replace("create job", "bulk create --predefined-names=job,two") if bulk else SCRIPT
    return launch_of(StoredScript(name="s.sh", text=f"{command}{words}\n".encode(), generation=1), "p")


def test_run_refuses_a_budget_for_a_machine_without_a_price(workstation):
    """It says what is unknown, and what to do; nothing is stored."""
    said = workstation.refused(*RUN, "--machine", "n4-custom-4-8192", "--budget", "20", *COMMAND)
    assert f"{UNKNOWN}, so we can't enforce the budget of $20. Nothing was sent." in said
    assert "--max-runtime" in said
    assert "infra/pricing/write_prices.py" in said
    assert workstation.store.entries("") == []


def test_run_refuses_a_budget_of_a_job_file_of_ones_own(workstation, here):
    """Whoever says it."""
    (here / "own.toml").write_text("budget = 20\n")
    words = ("--machine", "n4-custom-4-8192", "--job-toml", "own.toml")
    assert UNKNOWN in workstation.refused(*RUN, *words, *COMMAND)


def test_submit_refuses_a_budget_that_is_stored(workstation, here):
    """In the job.toml beside the script."""
    script = here / "create-instance.sh"
    script.write_text(f"{SCRIPT}n4-custom-4-8192 --provisioning-model=SPOT\n")
    name = workstation.layout.build(JobFileName(job="job"))
    workstation.store.write(name, b"budget = 7.5\n", generation=None)
    assert f"{UNKNOWN}, so we can't enforce the budget of $7.5" in workstation.refused("submit", str(script))
    assert [entry.name for entry in workstation.store.entries("")] == [name]


def test_without_a_budget_it_is_only_said(capsys):
    """The job may run; its cost will not be known."""
    check_priced(Speaker().context, launch(f"n4-custom-4-8192 {ON_SPOT}"), JobFile())
    assert "this job's cost won't be known" in capsys.readouterr().err


@pytest.mark.parametrize("budget", [None, 20.0])
def test_a_machine_with_a_price_is_no_word_worth(capsys, budget):
    """With a budget or without."""
    check_priced(Speaker().context, launch("n2-standard-8"), JobFile(budget=budget))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("budget", "said"), [(20.0, "the budget can't be checked here"), (None, "")])
def test_without_prices_here_the_functions_have_theirs(capsys, tmp_path, budget, said):
    """A laptop has no price file as a rule; a launch must not fail for that."""
    context = Speaker().context
    context = replace(context, settings=replace(context.settings, prices_file=tmp_path / "none.toml"))
    check_priced(context, launch(f"n4-custom-4-8192 {ON_SPOT}"), JobFile(budget=budget))
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.parametrize(
    ("words", "bulk", "kind"),
    [
        ("n2-standard-8", False, VmKind(machine_type="n2-standard-8", region="us-central1")),
        (
            "n1-standard-8 --accelerator=type=nvidia-tesla-t4,count=2 --provisioning-model=SPOT",
            False,
            VmKind(
                machine_type="n1-standard-8",
                gpu="nvidia-tesla-t4",
                gpus=2,
                region="us-central1",
                provisioning="SPOT",
            ),
        ),
        (
            "a2-highgpu-1g --provisioning-model=SPOT",
            True,
            VmKind(machine_type="a2-highgpu-1g", region="us-central1", provisioning="SPOT"),
        ),
    ],
)
def test_what_a_script_asks_for_has_a_kind(words, bulk, kind):
    """Its machine, its GPUs, its region, and how it is provisioned; of a gang those of one VM."""
    assert kind_of(launch(words, bulk=bulk)) == kind


SPOT, FLEX, STANDARD = (Rung(model=model, up_to=timedelta(hours=1)) for model in VmModel)
CAPPED = JobFile(budget=9.0)
A4, G2 = (f"{machine} {ON_SPOT}" for machine in ("a4-highgpu-8g", "g2-standard-8"))
OTHER_ZONES = ("us-east1-c", "us-east4-b", "me-central1-a")
SOON = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def refused():
    """Why a job with a budget is refused, "" where it is not, and what else its policy says."""

    def asked(words, file, placement=None, **offered):
        speaker = Speaker()
        speaker.cloud.compute.zones = ("us-central1-a", "us-central1-b", *OTHER_ZONES)
        for machine, zones in {"g2-standard-8": (), "a4-highgpu-8g": (), **offered}.items():
            speaker.cloud.compute.offer(machine.replace("_", "-"), zones)
        policy = replace(speaker.context.policy, placement=placement or PlacementLimits())
        try:
            check_priced(replace(speaker.context, policy=policy), launch(words), file)
        except click.ClickException as error:
            return error.message
        return ""

    return asked


def test_a_budget_needs_the_price_of_every_kind_of_its_ladder(refused):
    """Of a Flex-start VM without a price nobody could count it; one that it can't become needs none."""
    said = refused(G2, replace(CAPPED, ladder=(SPOT, FLEX, STANDARD)))
    assert (
        "g2-standard-8 (FLEX_START) has no known price in us-central1 (its ladder asks for it), so we" in said
    )
    assert "Leave FLEX_START out of `ladder` in job.toml." in said
    assert not refused(G2, replace(CAPPED, ladder=(SPOT, STANDARD)))
    assert not refused(f"n4-custom-4-8192 {ON_SPOT}", replace(CAPPED, ladder=(STANDARD,)))


def test_a_ladder_of_the_policy_counts_as_well(refused):
    """Its owner can say another."""
    said = refused(G2, CAPPED, PlacementLimits(ladder=(SPOT, FLEX)))
    assert "(the policy's ladder asks for it)" in said
    assert "Give the job a `ladder` of its own in job.toml, without FLEX_START." in said
    assert not refused(G2, replace(CAPPED, ladder=(SPOT,)), PlacementLimits(ladder=(SPOT, FLEX)))


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ({"deadline": SOON}, "Leave `deadline` out of job.toml."),
        ({"on_demand_after": 3}, "Leave `on_demand_after` out of job.toml."),
        ({"deadline": SOON, "ladder": (SPOT,)}, "Leave `deadline` out of job.toml."),
    ],
)
def test_a_budget_needs_the_price_of_the_on_demand_vms_that_a_job_may_become(refused, file, says):
    """After preemptions, or for its deadline: of A4 in us-east4 only the spot price is known."""
    there = {"a4_highgpu_8g": ["us-central1-b", "us-east4-b"]}
    elsewhere = replace(CAPPED, places=("us-east4",))
    said = refused(A4, replace(elsewhere, **file), **there)
    assert "a4-highgpu-8g (STANDARD) has no known price in us-east4 (its " in said
    assert says in said
    assert "Name only places with known prices in `places`" in said
    assert not refused(A4, elsewhere, **there)
    assert not refused(A4, replace(CAPPED, places=(), **file), **there)


def test_on_demand_after_of_the_policy_asks_for_on_demand_too(refused):
    """A script that is on-demand already becomes nothing else."""
    there = {"a4_highgpu_8g": ["us-central1-b", "us-east4-b"]}
    limits = PlacementLimits(on_demand_after=2, regions=("us-east4",))
    assert "(the policy's on_demand_after asks for it)" in refused(A4, CAPPED, limits, **there)
    home = replace(CAPPED, places=())
    assert not refused("a4-highgpu-8g", replace(home, deadline=SOON), limits, **there)


def test_a_budget_needs_the_price_of_every_region_that_offers_the_machine(refused):
    """Those that its job.toml or the policy names; where there is no such machine none is asked for."""
    words = f"n1-standard-8 --accelerator=type=nvidia-tesla-t4,count=1 {ON_SPOT}"
    there, nowhere = ["us-central1-a", "me-central1-a"], ["us-central1-a", "us-east1-c"]
    for file, limits in (
        (replace(CAPPED, places=("us-east1", "me-central1")), PlacementLimits()),
        (CAPPED, PlacementLimits(regions=("me-central1",))),
    ):
        said = refused(words, file, limits, n1_standard_8=there)
        assert "n1-standard-8 with 1 nvidia-tesla-t4 (SPOT) has no known price in me-central1, so" in said
        assert "with places = [] it stays at home" in said
        assert not refused(words, file, limits, n1_standard_8=nowhere)


def test_a_budget_needs_the_price_of_every_machine(refused):
    """Of a job on one without a price nobody could count it."""
    assert not refused(G2, replace(CAPPED, machines=("a2-highgpu-1g",)))
    said = refused(G2, replace(CAPPED, machines=("a2-highgpu-1g", "g2-standard-9")), g2_standard_9=())
    assert (
        "g2-standard-9 (SPOT) has no known price in us-central1, so we can't enforce the budget of $9" in said
    )
    assert "Leave g2-standard-9 out of `machines` in job.toml." in said


def test_a_price_of_its_own_needs_no_other(refused):
    """A budget with `price_per_hour` is counted at that, whatever the job becomes."""
    file = replace(CAPPED, price_per_hour=2.0, ladder=(SPOT, FLEX))
    assert not refused(f"n4-custom-4-8192 {ON_SPOT}", file)


def test_of_many_vms_without_a_price_the_first_are_told(refused):
    """A job.toml can ask for more than fits into a message."""
    machines = ("g2-standard-9", "g2-standard-10", "g2-standard-11", "g2-standard-13")
    file = replace(CAPPED, machines=machines, ladder=(SPOT, FLEX))
    said = refused(G2, file, **dict.fromkeys((name.replace("-", "_") for name in machines), ()))
    assert said.count("no known price") == 4
    assert "; and 5 more kinds of VM" in said


@pytest.mark.parametrize(
    ("machine", "model", "unknown"),
    [
        ("ct6e-standard-4t", "SPOT", False),
        ("ct6e-standard-4t", "FLEX_START", True),
        ("tpu7x-standard-4t", "SPOT", True),
    ],
)
def test_a_budget_of_a_slice_needs_the_price_of_one_of_its_vms(machine, model, unknown):
    """It stays where it is, on its machine type: there is nothing to leave out, and no empty line."""
    context = Speaker().context
    context = replace(context, settings=replace(context.settings, prices_file=PRICES))
    launched = launch_of_slice(machine=machine, model=model)
    if not unknown:
        check_priced(context, launched, CAPPED)
        return
    with pytest.raises(click.ClickException) as refused:
        check_priced(context, launched, CAPPED)
    first, second, _ops = refused.value.message.splitlines()
    assert first.startswith(f"{machine} ({model}) has no known price in us-central1, so we can't enforce")
    assert second.startswith("Add the price to ")
