"""A mistyped machine or zone is refused before anything is sent; a zone that nobody could ask is not."""

import click
import pytest
from msgspec.structs import replace

from spotwarden.cli.launching.near import unknown_kind
from spotwarden.cli.launching.offered import check_offered
from spotwarden.cli.launching.other_places import warn_of_places
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Choice
from tests.fakes.compute import MemoryCompute
from tests.fakes.trouble import unanswered
from tests.recovery.facts import launch

LAUNCH = replace(launch(), machine="g2-standard-4")
OTHER = "us-central1-b"


@pytest.fixture
def compute():
    """Compute Engine, where one zone has the machine, and it is not the one that is asked."""
    fake = MemoryCompute()
    fake.offer(LAUNCH.machine, [OTHER])
    return fake


def test_a_zone_without_the_machine_is_refused_with_those_that_have_it(compute):
    """Nothing is sent."""
    with pytest.raises(click.UsageError, match=OTHER):
        check_offered(compute, LAUNCH)


def test_a_zone_that_could_not_be_asked_is_left_to_the_launch(compute):
    """During an outage the lists lack zones that may have the machine."""
    compute.hide(LAUNCH.place)
    check_offered(compute, LAUNCH)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("us-centrl1-b", "Did you mean us-central1-b?"),
        (
            "us-central1",
            "is a region, not a zone. Nothing was sent.\nIts zones that offer g2-standard-4: us-central1-b",
        ),
        ("mars-north1-a", "Zones that do: us-central1-b"),
    ],
)
def test_a_mistyped_zone_is_told_which_was_meant(compute, place, says):
    """A region in the place of a zone, too: Compute Engine would refuse it after everything is sent."""
    with pytest.raises(click.UsageError) as refused:
        check_offered(compute, at(place))
    assert says in str(refused.value)


def test_a_request_for_a_region_is_for_one_that_has_the_machine(compute):
    """There Compute Engine chooses the zone; a mistyped one is told which was meant."""
    check_offered(compute, at("us-central1", "regions"))
    with pytest.raises(click.UsageError, match="Did you mean us-central1"):
        check_offered(compute, at("us-cental1", "regions"))


def at(place, kind="zones"):
    """The launch of one VM there."""
    request = LAUNCH.request
    path = request.path.replace(f"zones/{LAUNCH.place}", f"{kind}/{place}")
    return replace(LAUNCH, choices=(Choice(place=place, request=replace(request, path=path)),))


@pytest.mark.parametrize(
    ("places", "says"),
    [
        ((), ""),
        (("us-central1", OTHER), ""),
        (("us-cental1",), "offers g2-standard-4, so the job never moves there. Did you mean us-central1?"),
        ((OTHER, "mars-north1"), "no zone of mars-north1"),
    ],
)  # fmt: skip
def test_a_place_without_the_machine_is_warned_of(compute, capsys, places, says):
    """It would be passed over each time, and nobody would hear why."""
    warn_of_places(compute, LAUNCH, JobFile(places=places))
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("warning: ") if says else said == ""
    assert says in said


def test_a_place_that_has_only_another_machine_of_the_job_is_one(compute, capsys):
    """It may go there as that."""
    compute.offer("g2-standard-8", ["us-central1-a"])
    warn_of_places(compute, LAUNCH, JobFile(places=("us-central1-a",)))
    assert "offers g2-standard-4," in capsys.readouterr().err
    warn_of_places(compute, LAUNCH, JobFile(places=("us-central1-a",), machines=("g2-standard-8",)))
    assert capsys.readouterr().err == ""


def test_of_places_that_cannot_be_asked_nothing_is_said(compute, capsys):
    """Lists that fail are no reason to warn of anything."""
    compute.trouble.order("offers", unanswered(after_work=False))
    warn_of_places(compute, LAUNCH, JobFile(places=("mars-north1",)))
    assert capsys.readouterr().err == ""


TYPES = ("n1-standard-1", "n1-standard-4", "n1-standard-8", "g2-standard-4", "nvidia-tesla-t4", "nvidia-l4")


@pytest.fixture
def zones(compute):
    """The same, with the machines and cards of a zone; another zone has one machine more."""
    for kind in TYPES:
        compute.offer(kind, [OTHER])
    compute.offer("a3-highgpu-8g", ["us-central1-a"])
    compute.offer("n1-standard-1", ["us-central1-a", OTHER])
    return compute


@pytest.mark.parametrize(
    ("machine", "cards", "place", "says"),
    [
        (
            "n1-standrd-4",
            (),
            OTHER,
            "unknown machine type 'n1-standrd-4': no zone offers it. Nothing was sent.",
        ),
        ("n1-standrd-4", (), OTHER, "\nDid you mean n1-standard-4? Or n1-standard-8, n1-standard-1?"),
        ("a3-higgpu-8g", (), "us-central1-a", "Did you mean a3-highgpu-8g?"),
        ("g2-standrad-4", (), "us-centrl1-b", "Did you mean g2-standard-4?"),
        ("n1-standard-4", ("nvidia-telsa-t4",), OTHER, "unknown accelerator type 'nvidia-telsa-t4'"),
        ("n1-standard-4", ("nvidia-telsa-t4",), OTHER, "Did you mean nvidia-tesla-t4?"),
        ("quantum-9000", (), OTHER, "gcloud compute machine-types list --filter='zone~us-central1'"),
    ],
)
def test_a_mistyped_machine_or_card_is_told_which_was_meant(zones, machine, cards, place, says):
    """By the names that the zone has, or the nearest zone where that is mistyped, too."""
    zones.offer(machine if not cards else cards[0], [])
    with pytest.raises(click.UsageError) as refused:
        check_offered(zones, replace(at(place), machine=machine, accelerators=cards))
    assert says in str(refused.value)


def test_a_machine_and_a_card_that_no_zone_has_together_are_both_named(zones):
    """Each of them is known: the pair is what is wrong."""
    zones.offer("nvidia-l4", ["us-central1-a"])
    zones.offer("g2-standard-4", ["us-central1-a", OTHER])
    zones.offer("n1-standard-4", [OTHER])
    said = unknown_kind(zones, "n1-standard-4", ("nvidia-tesla-t4",), OTHER)
    assert said.startswith("no zone offers n1-standard-4 with nvidia-tesla-t4. Nothing was sent.")


@pytest.mark.parametrize("asked", ["offers", "kinds_offered"])
def test_where_the_names_cannot_be_read_none_is_guessed(zones, asked):
    """The refusal stands, with the command that lists them."""
    zones.trouble.order(asked, unanswered(after_work=False))
    said = unknown_kind(zones, "n1-standrd-4", (), OTHER)
    assert "Did you mean" not in said
    assert "gcloud compute machine-types list" in said
