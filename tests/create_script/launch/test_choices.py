"""A launch, and the other places it can be sent to."""

import pytest
from msgspec.structs import replace

from spotwarden.create_script.request.stored import MOST_WRITTEN, with_choices

HOME, NEXT, ABROAD = "us-central1-a", "us-central1-f", "europe-west4-b"
REGION = "--region=us-central1"
OWN = "w-1.us-central1-a.c.demo-project.internal"


def places(launch):
    """The places of a launch, in order."""
    return [choice.place for choice in launch.choices]


def metadata(request):
    """The metadata of a request, by key."""
    machine = request.body.get("instanceProperties", request.body)
    return {item["key"]: item["value"] for item in machine["metadata"]["items"]}


def test_home_comes_first_whatever_the_order_of_zones(one):
    """The others follow in the order given."""
    launch = with_choices(one(), [ABROAD, HOME, NEXT])
    assert places(launch) == [HOME, ABROAD, NEXT]
    assert launch.request == one().request
    assert launch.fixed == ()


def test_each_choice_asks_in_its_own_place(one, gang):
    """A choice whose request went home would be sent there again."""
    for launch in (one(), gang()):
        for choice in with_choices(launch, [NEXT, ABROAD]).choices:
            assert f"/zones/{choice.place}/" in choice.request.path


def test_a_regional_gang_has_one_choice_for_each_region(gang):
    """The API picks the zone."""
    launch = with_choices(gang(place=REGION), [NEXT, ABROAD, "europe-west4-a", "us-east1-b"])
    assert places(launch) == ["us-central1", "europe-west4", "us-east1"]
    assert all(f"/regions/{choice.place}/" in choice.request.path for choice in launch.choices)


def test_what_cannot_move_says_why_in_few_words(one):
    """One reason, however many zones it holds for."""
    launch = with_choices(one("--disk=name=data"), [HOME, NEXT, ABROAD, "us-east1-b"])
    assert places(launch) == [HOME]
    assert launch.fixed == ("the disk data exists already, in us-central1-a",)


def test_what_can_move_a_little_says_what_keeps_it_from_more(one):
    """A subnetwork is in one region."""
    launch = with_choices(one("--subnet=mine"), [NEXT, ABROAD])
    assert places(launch) == [HOME, NEXT]
    assert launch.fixed == ("the subnetwork mine is in region us-central1",)


def test_other_zones_give_other_choices(one):
    """The answer for some zones is not given for others."""
    launch = one()
    assert places(with_choices(launch, [NEXT])) == [HOME, NEXT]
    assert places(with_choices(launch, [ABROAD])) == [HOME, ABROAD]


def test_choices_are_made_of_the_home_request_each_time(one):
    """Asked again, earlier choices do not pile up."""
    once = with_choices(one(), [NEXT])
    assert places(with_choices(once, [ABROAD])) == [HOME, ABROAD]


def test_the_same_question_is_answered_from_memory(one):
    """A sweep asks at each step."""
    launch = one()
    assert with_choices(launch, [NEXT]) is with_choices(launch, (NEXT,))


def test_an_equal_launch_is_asked_anew(one):
    """Memory goes by the very object: equal JSON is not looked for."""
    launch = one()
    assert with_choices(replace(launch), [NEXT]) == with_choices(launch, [NEXT])


@pytest.mark.parametrize(
    "value",
    [
        OWN,
        f"{OWN}.",
        f"tcp://{OWN}:29500",
        f"hosts={OWN},w-2.us-central1-a.c.demo-project.internal",
        f"'{OWN}'",
    ],
)
def test_the_zonal_name_of_an_own_node_follows(value, gang):
    """The master runs where the gang runs."""
    launch = gang("--name-pattern=w-#", "--count=2", f"--metadata=^~^MASTER_ADDR={value}")
    moved = with_choices(launch, [ABROAD]).choices[1].request
    assert metadata(moved)["MASTER_ADDR"] == value.replace(HOME, ABROAD)


def test_a_single_machine_may_name_itself(one):
    """Its own zonal name follows, too."""
    launch = one("--metadata=me=trainer.us-central1-a.c.demo-project.internal")
    moved = with_choices(launch, [NEXT]).choices[1].request
    assert metadata(moved)["me"] == "trainer.us-central1-f.c.demo-project.internal"


@pytest.mark.parametrize(
    "value",
    [
        "w-1",
        "w-1.c.demo-project.internal",
        "us-central1-a",
        "gs://runs/us-central1-a/x",
        "nfs.us-central1-a.c.demo-project.internal",
        "old-w-1.us-central1-a.c.demo-project.internal",
        "x.w-1.us-central1-a.c.demo-project.internal",
        "w-1.us-central1-a.c.other-project.internal",
        "w-1.us-central1-b.c.demo-project.internal",
        "w-1.us-central1-a.c.demo-project.internal.example.com",
        "w-1.us-central1-a.c.demo-project.internals",
        "w-3.us-central1-a.c.demo-project.internal",
    ],
)
def test_any_other_mention_of_a_place_is_the_users(value, gang):
    """A bucket, a file server or another job does not move with this one."""
    launch = gang("--name-pattern=w-#", "--count=2", f"--metadata=MASTER_ADDR={value}")
    moved = with_choices(launch, [ABROAD]).choices[1].request
    assert metadata(moved)["MASTER_ADDR"] == value


def test_the_project_of_a_domain_is_turned_round_in_names(read):
    """`example.com:lab` is `lab.example.com` there."""
    launch = read(
        "gcloud compute instances create w --project=example.com:lab --zone=us-central1-a"
        " --metadata=me=w.us-central1-a.c.lab.example.com.internal",
        project="example.com:lab",
    )
    moved = with_choices(launch, [NEXT]).choices[1].request
    assert metadata(moved)["me"] == "w.us-central1-f.c.lab.example.com.internal"


@pytest.mark.parametrize("zone", [NEXT, ABROAD])
def test_there_and_back_is_the_same_request(zone, one, gang):
    """Nothing is lost or added on the way."""
    flags = ("--machine-type=g2-standard-8", "--provisioning-model=SPOT", f"--metadata=MASTER_ADDR={OWN},b=c")
    for launch in (one(*flags, name="w-1"), gang("--name-pattern=w-#", "--count=2", *flags)):
        there = with_choices(launch, [zone]).choices[1]
        assert there.request != launch.request
        back = with_choices(replace(launch, choices=(there,)), [HOME]).choices[1]
        assert back.request == launch.request


def test_a_regional_gang_that_names_a_zone_stays_in_its_region(gang):
    """Abroad nobody can know which zone it will be."""
    launch = gang("--name-pattern=w-#", "--count=2", f"--metadata=MASTER_ADDR={OWN}", place=REGION)
    found = with_choices(launch, [NEXT, ABROAD])
    assert places(found) == ["us-central1"]
    assert found.fixed == (
        "the metadata MASTER_ADDR names a node in one zone, but the request leaves the zone open",
    )


def test_within_its_region_a_regional_gang_has_nothing_to_tell(gang):
    """The request is the same for every zone of it."""
    launch = gang("--name-pattern=w-#", "--count=2", f"--metadata=MASTER_ADDR={OWN}", place=REGION)
    assert with_choices(launch, [HOME, NEXT]).fixed == ()


def test_a_regional_gang_may_name_the_machines_of_others(gang):
    """They are where they are, wherever it runs."""
    value = OWN.replace("w-1", "nfs")
    launch = gang("--name-pattern=w-#", "--count=2", f"--metadata=NFS={value}", place=REGION)
    assert places(with_choices(launch, [ABROAD])) == ["us-central1", "europe-west4"]


def test_a_large_request_is_written_for_some_places_only(one):
    """Metadata that names a node is another text in each zone, and a hundred large ones fill a function."""
    value = f"{OWN} " * 2_000
    launch = one(f"--metadata=a={value}")
    zones = [f"us-east{number}-b" for number in range(100)]
    found = with_choices(launch, zones)
    most = MOST_WRITTEN // len(value)
    assert most - 1 <= len(found.choices) - 1 <= most
    assert places(found) == [HOME, *zones[: len(found.choices) - 1]]
    assert found.fixed == ("its request is too large to be written for any further place",)


def test_words_of_the_user_cost_no_place(one):
    """What is the same in each zone is one text."""
    zones = [f"us-east{number}-b" for number in range(100)]
    found = with_choices(one(f"--metadata=a={'x' * 100_000}"), zones)
    assert places(found) == [HOME, *zones]
    assert found.fixed == ()
