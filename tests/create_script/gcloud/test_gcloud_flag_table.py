"""The flag table knows exactly the flags that gcloud knows."""

import json
import re
from pathlib import Path

import pytest

from spotwarden.create_script.gcloud.defaults import SDK_VERSION
from spotwarden.create_script.gcloud.flagset import flags_of
from spotwarden.create_script.gcloud.values import Misfit

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


def test_the_table_and_the_record_are_of_one_version():
    """The defaults are pinned to the version whose flags were recorded."""
    assert RECORDED["sdk"] == SDK_VERSION


@pytest.mark.parametrize(("command", "track"), COMMANDS)
def test_every_flag_of_gcloud_is_known_and_no_other(command, track):
    """Switches have their negations where gcloud has them."""
    table = flags_of(command, track)
    ours = {f"--{name}" for name in table} | {
        f"--no-{name}" for name, flag in table.items() if flag.negatable
    }
    assert ours == recorded(command, track)[0]


@pytest.mark.parametrize(("command", "track"), COMMANDS)
def test_every_key_of_a_dictionary_flag_is_known_and_no_other(command, track):
    """An unknown key is refused with the list of those that exist."""
    table = flags_of(command, track)
    for flag, keys in recorded(command, track)[1].items():
        with pytest.raises(Misfit) as refusal:
            table[flag.removeprefix("--")].read("no-such-key=1")
        listed = re.search(r"it knows (.*)", str(refusal.value))
        assert listed
        assert set(listed[1].split(", ")) == keys


@pytest.mark.parametrize(("command", "track"), COMMANDS)
def test_a_flag_is_a_switch_or_takes_a_value(command, track):
    """Only flags without a value may be negated."""
    assert all(flag.read is None for flag in flags_of(command, track).values() if flag.negatable)
