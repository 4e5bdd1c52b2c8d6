"""A job's job.toml is changed by one value, and nothing else in it is lost."""

from pathlib import Path

import click
import pytest

from spotwarden.cli.acting.job_file import change_job_file
from spotwarden.cli.context import Context
from spotwarden.engine.settings import Settings
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from tests.fakes.cloud import memory_cloud
from tests.fakes.trouble import conflict, unanswered

TEXT = b'# mine\nmax_runtime = "20h"\n'


@pytest.fixture
def cloud():
    """A bucket with one job's file."""
    cloud = memory_cloud()
    cloud.store.write("my-job/metadata/job.toml", TEXT, generation=0)
    return cloud


def change(cloud, **value):
    """Change a value of the file, as a command does."""
    context = Context(
        settings=Settings(project="p", bucket="b", notices="n", policy_file=Path("policy.toml")),
        policy=Policy(version="command", mode=Mode.ENFORCE),
        cloud=cloud.ports(),
    )
    tick = Tick(function="cli_extend", sweep="sweep-1", now=cloud.clock.now())
    change_job_file(context, tick, "my-job", by="ada", **value)


def text(cloud):
    """The file as it is."""
    return cloud.store.read("my-job/metadata/job.toml").data.decode()


def test_a_file_that_somebody_wrote_meanwhile_is_read_anew(cloud):
    """The write names the generation that was read; what the other one wrote stays."""
    cloud.store.trouble.order("write", conflict(), about="job.toml", times=2)
    change(cloud, max_runtime="1d")
    assert text(cloud) == '# mine\nmax_runtime = "1d"\n'


@pytest.mark.parametrize("times", [4, 5])
def test_one_that_changes_too_fast_is_left_alone(cloud, times):
    """Five tries; then it is said that nothing was written."""
    cloud.store.trouble.order("write", conflict(), about="job.toml", times=times)
    if times == 4:
        change(cloud, max_runtime="1d")
        return
    with pytest.raises(click.ClickException, match="is being changed by others; nothing was written"):
        change(cloud, max_runtime="1d")
    assert text(cloud).encode() == TEXT


def test_a_write_without_an_answer_is_no_success(cloud):
    """Nobody knows; the command can be run again."""
    cloud.store.trouble.order("write", unanswered(after_work=False), about="job.toml", times=1)
    with pytest.raises(click.ClickException, match="could not be written"):
        change(cloud, max_runtime="1d")


def test_a_job_without_a_file_gets_one(cloud):
    """Only a new one: one that comes meanwhile is not written over."""
    cloud.store.delete("my-job/metadata/job.toml", generation=cloud.store.entries("my-job/")[0].generation)
    change(cloud, max_runtime="1d")
    assert text(cloud) == 'max_runtime = "1d"\n'


@pytest.mark.parametrize("broken", [b"max_runtime = \n", b'colour = "red"\n', b"max_runtime = [\n1]\n"])
def test_a_file_that_cannot_be_read_is_not_changed(cloud, broken):
    """Its owner mends it first: a veto may stand in it."""
    cloud.store.write("my-job/metadata/job.toml", broken, generation=None)
    with pytest.raises(click.ClickException, match=r"job\.toml"):
        change(cloud, max_runtime="1d")
    assert text(cloud).encode() == broken
