"""The flag table knows exactly the flags that gcloud knows."""

import json
import re
from pathlib import Path

import pytest

from spotwarden.create_script.gcloud.flags import FLAGS
from spotwarden.create_script.gcloud.flagset import GLOBAL_FLAGS, flags_of
from spotwarden.create_script.gcloud.surface import Taker, surface
from spotwarden.create_script.gcloud.values import Misfit
from spotwarden.model.gcloud import NEWEST, OLDEST, VERSIONS
from spotwarden.model.limits import RecoveryLimits

RECORDED = json.loads(Path(__file__).with_name("flags.json").read_text())
TRACKS = ("v1", "beta", "alpha")
COMMANDS = [(command, track) for command in RECORDED["commands"] for track in TRACKS]


def recorded(command: str, track: str) -> tuple[set[str], dict[str, set[str]]]:
    """Give gcloud's flags and dictionary keys; each track knows those of the tracks before it."""
    flags, keys = set(), {}
    for known in TRACKS[: TRACKS.index(track) + 1]:
        flags |= set(RECORDED["commands"][command][known]["flags"])
        for flag, names in RECORDED["commands"][command][known]["keys"].items():
            keys[flag] = keys.get(flag, set()) | set(names)
    return flags, keys


def oldest(command: str, track: str):
    """Give the flags of the version that was recorded."""
    return flags_of(Taker(command=command, track=track, version=OLDEST))


def test_the_record_is_of_the_oldest_version():
    """It was taken from gcloud's help, not by the program that writes the table."""
    assert RECORDED["sdk"].partition(".")[0] == str(OLDEST)


def test_every_flag_of_the_table_has_a_reader_and_no_other():
    """A flag that a new gcloud brings can't be forgotten."""
    ours = [row.name for row in FLAGS] + [flag.name for flag in GLOBAL_FLAGS]
    assert sorted(ours) == sorted(surface().flags)


def test_every_version_of_the_table_is_read():
    """And what is read is in the table."""
    assert surface().versions == VERSIONS


def test_the_policy_reads_scripts_as_the_newest_does():
    """Where it says nothing else."""
    assert RecoveryLimits().gcloud_version == NEWEST


def test_defaults_that_reach_a_request_are_those_of_gcloud():
    """One that gcloud moves fails here, when the table is written anew."""
    known = {name: flag.default for name, flag in surface().flags.items()}
    ours = {row.name: row.default for row in FLAGS if row.default is not None}
    assert ours == {name: known[name] for name in ours}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("command", "track"), COMMANDS)
def test_every_word_and_key_has_a_reader_in_each_version(command, track, version):
    """The flags of each command can be made."""
    for flag in flags_of(Taker(command=command, track=track, version=version)).values():
        assert flag.read is None or callable(flag.read)


@pytest.mark.parametrize(("command", "track"), COMMANDS)
def test_every_flag_of_gcloud_is_known_and_no_other(command, track):
    """Switches have their negations where gcloud has them."""
    table = oldest(command, track)
    ours = {f"--{name}" for name in table} | {
        f"--no-{name}" for name, flag in table.items() if flag.negatable
    }
    assert ours == recorded(command, track)[0]


@pytest.mark.parametrize(("command", "track"), COMMANDS)
def test_every_key_of_a_dictionary_flag_is_known_and_no_other(command, track):
    """An unknown key is refused with the list of those that exist."""
    table = oldest(command, track)
    for flag, keys in recorded(command, track)[1].items():
        with pytest.raises(Misfit) as refusal:
            table[flag.removeprefix("--")].read("no-such-key=1")
        listed = re.search(r"it knows (.*)", str(refusal.value))
        assert listed
        assert set(listed[1].split(", ")) == keys


@pytest.mark.parametrize(("command", "track"), COMMANDS)
def test_a_flag_is_a_switch_or_takes_a_value(command, track):
    """Only flags without a value may be negated."""
    assert all(flag.read is None for flag in oldest(command, track).values() if flag.negatable)
