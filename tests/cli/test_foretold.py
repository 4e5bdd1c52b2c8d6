"""What a launch foretells of a job whose job.toml says how much work it is."""

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from spotwarden.cli.launching.foretold import begun, foretold, rates_of
from spotwarden.create_script.request.stored import launch_of
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import StoredScript
from spotwarden.model.policy import Policy
from spotwarden.model.prices import VmKind
from spotwarden.recovery.kinds.machines import machine_key
from spotwarden.recovery.kinds.price_file import read_prices
from tests.cli.logged import Speaker
from tests.cli.other_jobs import reads, report_past

PRICES = Path(__file__).parents[2] / "infra/prices.toml"
SCRIPT = "gcloud compute instances create job --zone=us-central1-a --image-family=debian-12 --machine-type="
DAY = JobFile(work=timedelta(hours=24))
POLICY = Policy(version="test")
TABLE = read_prices(PRICES)
INDEX = "spotwarden/report/index.json.gz"


def launch(words):
    """What a script with these words launches."""
    return launch_of(StoredScript(name="s.sh", text=f"{SCRIPT}{words}\n".encode(), generation=1), "p")


@pytest.fixture
def speaker():
    """The project."""
    return Speaker()


@pytest.fixture
def told(speaker):
    """The lines about a launch."""
    context = replace(speaker.context, settings=replace(speaker.context.settings, prices_file=PRICES))
    now = speaker.cloud.clock.now()

    def build(words, file=DAY, done=None):
        lines = foretold(context, launch(words), file, done=done, now=now)
        return dict(line.split(": ", 1) for line in lines)

    return build


def test_a_spot_vm_has_two_ends_and_an_interval(told):
    """With a bill, as its price is known."""
    lines = told("n2-standard-8 --provisioning-model=SPOT")
    assert lines["ends"].count("$") == 2
    assert "is best" in lines["saves"]
    assert lines["basis"].startswith("24.0 h of work left, ")


def test_an_on_demand_vm_is_not_expected_to_be_lost(told):
    """Nothing to save for; of what was done before nothing is left to do."""
    lines = told("n2-standard-8")
    assert lines["basis"] == "24.0 h of work left, on VMs that are not preempted"
    assert "saves" not in lines
    assert told("n2-standard-8", done=0.5)["basis"].startswith("12.0 h of work left")


def test_what_other_jobs_went_through_is_read_in_the_report(speaker, told):
    """With one read; short lives make more losses."""
    words = "n2-standard-8 --provisioning-model=SPOT"
    alone = told(words)
    report_past(speaker, machine_key(launch(words)), "other")
    found = reads(speaker)
    assert losses(told(words)) > 1.5 * losses(alone)
    assert found == [INDEX]


def test_where_the_table_knows_more_the_report_is_not_read(speaker, told):
    """Nor where nothing is foretold."""
    words = "a3-highgpu-8g --provisioning-model=SPOT"
    report_past(speaker, machine_key(launch(words)), "other")
    found = reads(speaker)
    told(words)
    told("n2-standard-8", file=JobFile())
    assert found == []


def test_a_report_that_cannot_be_read_tells_nothing(speaker, told):
    """The forecast is made without it."""
    words = "n2-standard-8 --provisioning-model=SPOT"
    alone = told(words)
    speaker.cloud.store.write(INDEX, b"broken", generation=None)
    assert told(words) == alone


def losses(lines):
    """How many a day are expected."""
    return float(lines["basis"].split(", ")[1].split()[0])


def test_without_declared_work_nothing_is_foretold(told):
    """The heartbeats will tell."""
    assert told("n2-standard-8", file=JobFile()) == {}


def test_without_a_price_there_is_no_bill(told):
    """An end there is."""
    assert "$" not in told("n2-custom-4-8192 --provisioning-model=SPOT")["ends"]


def test_a_script_that_is_bound_to_its_zone_does_not_move():
    """Though the policy lets others do so."""
    free = launch("n2-standard-8 --provisioning-model=SPOT")
    now = Speaker().cloud.clock.now()
    assert begun(free, DAY, DAY.work, POLICY, now).places is None
    assert begun(replace(free, fixed=("its disk",)), DAY, DAY.work, POLICY, now).places == ()


@pytest.mark.parametrize(("words", "follows"), [(" --metadata=spotwarden-early=1", True), ("", False)])
def test_a_job_with_a_deadline_that_hands_over_follows_a_line(words, follows):
    """From its launch on."""
    now = Speaker().cloud.clock.now()
    due = replace(DAY, deadline=now + 2 * DAY.work)
    seen = begun(launch(f"n2-standard-8 --provisioning-model=SPOT{words}"), due, due.work, POLICY, now)
    assert (seen.returns, seen.began) == (follows, now)


@pytest.mark.parametrize(
    ("machine", "model"), [("ct6e-standard-4t", "FLEX_START"), ("ct6e-standard-4t", "STANDARD")]
)
def test_tpus_and_flex_start_vms_cost_their_own_price(machine, model):
    """Two of them twice as much; what has none is unknown."""
    kind = VmKind(machine_type=machine, region="us-east5", provisioning=model)
    one, two = rates_of([kind], TABLE), rates_of([kind, kind], TABLE)
    assert one.other
    assert two.other == 2 * one.other
    assert rates_of([replace(kind, region="nowhere")], TABLE).other is None
    assert rates_of([], TABLE).other is None
