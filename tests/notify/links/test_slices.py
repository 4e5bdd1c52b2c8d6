"""Links about a TPU slice are about the whole of it: kept, given more time, approved, and deleted as one."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.notice import Way
from spotwarden.model.rule_limits import JobCap
from spotwarden.notify.templates import mail
from tests.fakes.trouble import rejected
from tests.fakes.world import load
from tests.governance.caps.cap_world import CapWorld
from tests.governance.slices.slice_world import OWNER, asked_of_vms, deleted_groups, launch
from tests.notify.links.answer_web import Web
from tests.notify.templates.messages import links, pending

HOUR = timedelta(hours=1)
CAP = JobCap(max_runtime=10 * HOUR, longest=20 * HOUR, remedy=Remedy.STOP)


@pytest.fixture
def web():
    """The owner of a slice that has been up for eight of its ten hours, with the message before her."""
    limits = GovernanceLimits(ops="ops@x.org", blast_least=8)
    world = CapWorld(load("cap_runtime"), job_cap=CAP, governance=limits)
    world.made = launch(world)
    world.sweep_for(hours=8, every=timedelta(minutes=20))
    return Web(world)


def token(web, way):
    """The owner's link."""
    return web.token(web.offer(way, to=OWNER))


def test_a_click_deletes_the_slice_by_its_group_once(web):
    """The page says that it can't be stopped; nothing is asked of a single VM."""
    made, link = web.world.made, token(web, Way.STOP)
    page = web.open(link).text
    for said in (
        "Delete TPU slice trainer (4 VMs) now?",
        "TPU slice trainer (4 VMs) is deleted at once. A slice can",
        "Delete now",
        "spotwarden stop trainer --delete",
    ):
        assert said in page
    assert deleted_groups(web.world) == []
    assert "TPU slice trainer (4 VMs) is being deleted" in web.click(link).text
    web.world.wait(hours=1)
    assert "Nothing was done again" in web.click(link).text
    assert deleted_groups(web.world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(web.world) == []
    written = next(entry for entry in web.audit() if entry["action"] == "DeleteGroup")
    assert OWNER in written["why"]
    assert {target["id"] for target in written["detail"]["targets"]} == made.vms


def test_the_button_in_the_mail_says_that_the_slice_is_deleted(web):
    """As the page behind it; of a VM that can be stopped it says so."""
    warned = web.world.notices()[0]
    single = replace(warned, instances=(replace(warned.instances[0], group=None),))
    for notice, label in ((warned, "Delete now"), (single, "Stop now")):
        about = pending(notice)
        text = mail([about], links=links(about), message_id="m", at=notice.at, again=False).text
        assert [name for name in ("Delete now", "Stop now") if name in text] == [label]


def test_a_slice_whose_group_has_become_another_is_not_touched(web):
    """Its VMs are somebody's, and nobody's the message named."""
    link = token(web, Way.STOP)
    world, made = web.world, web.world.made
    whole = world.cloud.compute.group
    world.cloud.compute.group = lambda zone, name, group_id="": (
        None if group_id == made.group.id else whole(zone, name, group_id)
    )
    assert "is already stopped, stopping or gone" in web.click(link).text
    assert deleted_groups(world) == []


def test_a_group_that_is_gone_by_the_click_is_as_it_should_be(web):
    """Nothing failed."""
    link = token(web, Way.STOP)
    web.world.cloud.compute.trouble.order("delete_group", rejected("notFound", "gone"))
    assert web.click(link).status_code == 200


def test_a_slice_is_kept_whole(web):
    """For as long as the button says."""
    page = web.click(token(web, Way.KEEP)).text
    assert "Spotwarden takes no action on TPU slice trainer (4 VMs) until" in page
    web.world.sweep_for(hours=3, every=timedelta(minutes=20))
    assert deleted_groups(web.world) == []


def test_a_slice_is_given_more_time(web):
    """All of it."""
    assert "TPU slice trainer (4 VMs) may run 4 h longer" in web.click(token(web, Way.EXTEND)).text
    web.world.sweep_for(hours=3, every=timedelta(minutes=20))
    assert deleted_groups(web.world) == []


def test_ops_approve_a_slice_that_is_larger_than_the_budget():
    """By the button: it goes whole."""
    limits = GovernanceLimits(ops="ops@x.org", blast_count=3)
    world = CapWorld(load("cap_runtime"), job_cap=CAP, governance=limits)
    made = launch(world)
    world.sweep_for(hours=11, every=timedelta(minutes=20))
    assert deleted_groups(world) == []
    web = Web(world)
    link = web.token(web.offer(Way.APPROVE, to="ops@x.org"))
    page = web.open(link).text
    assert "Approve the action on TPU slice trainer (4 VMs)?" in page
    assert "All 4 VMs will be deleted as a whole" in page
    assert web.click(link).status_code == 200
    world.sweep_for(hours=1, every=timedelta(minutes=20))
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == []
