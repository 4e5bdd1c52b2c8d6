"""A budget that can't be enforced is refused before anything is sent."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from spotwarden.cli.launching.priced import check_priced, kind_of
from spotwarden.create_script.request.stored import launch_of
from spotwarden.layout import JobFileName
from spotwarden.model.launch import StoredScript
from spotwarden.model.prices import VmKind
from tests.cli.logged import Speaker
from tests.contract.local_world import LocalWorld

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
    check_priced(Speaker().context, launch(f"n4-custom-4-8192 {ON_SPOT}"), None)
    assert "this job's cost won't be known" in capsys.readouterr().err


@pytest.mark.parametrize("budget", [None, 20.0])
def test_a_machine_with_a_price_is_no_word_worth(capsys, budget):
    """With a budget or without."""
    check_priced(Speaker().context, launch("n2-standard-8"), budget)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("budget", "said"), [(20.0, "the budget can't be checked here"), (None, "")])
def test_without_prices_here_the_functions_have_theirs(capsys, tmp_path, budget, said):
    """A laptop has no price file as a rule; a launch must not fail for that."""
    context = Speaker().context
    context = replace(context, settings=replace(context.settings, prices_file=tmp_path / "none.toml"))
    check_priced(context, launch(f"n4-custom-4-8192 {ON_SPOT}"), budget)
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
