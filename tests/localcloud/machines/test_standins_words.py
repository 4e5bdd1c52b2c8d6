"""How the stand-ins read what they are told: names, wildcards, options, times, formats."""

import fnmatch
import json
import re
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from localcloud.standins import gs, options, power
from localcloud.standins.cli.edits import pairs
from localcloud.standins.cli.formats import BadFormat, render
from localcloud.standins.cli.yaml_text import as_yaml
from localcloud.standins.looking import human
from localcloud.standins.power import PowerOrder, Unclear

NOON = time.struct_time((2026, 11, 21, 12, 0, 0, 5, 325, 0))


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("a/*.txt", "a/b.txt", True),
        ("a/*.txt", "a/b/c.txt", False),
        ("a/**", "a/b/c.txt", True),
        ("a/**/c.txt", "a/c.txt", True),
        ("a/**/c.txt", "a/b/d/c.txt", True),
        ("a/?.txt", "a/b.txt", True),
        ("a/?.txt", "a/bb.txt", False),
        ("a/[bc].txt", "a/c.txt", True),
        ("a/[!bc].txt", "a/c.txt", False),
        ("a/[0-9]", "a/7", True),
        ("a.b", "axb", False),
        ("a/[", "a/[", True),
        ("a/(x)+", "a/(x)+", True),
    ],
)
def test_wildcards_match_as_gcloud_storage_has_them(pattern, name, matches):
    """One star and the question mark stop at a slash, two stars do not; everything else is itself."""
    assert bool(gs.matcher(pattern).fullmatch(name)) is matches


@given(st.text("ab/*?[]!.-&|~^\\", max_size=12), st.text("ab/.", max_size=12))
def test_every_pattern_is_a_pattern_or_refused(pattern, name):
    """Only a backward range is an error; without a slash in the name, fnmatch says the same."""
    try:
        found = bool(gs.matcher(pattern).fullmatch(name))
    except gs.BadAddress as error:
        assert "bad character range" in str(error)
        return
    if "/" not in name + pattern and not re.search(r"\*\*|\[[^\]]*\[|\[\]|\[!\]|\[[^\]]*$|-|\\\\", pattern):
        assert found == fnmatch.fnmatchcase(name, pattern)


@pytest.mark.parametrize("text", ["gs://", "gs:///x", "gs://A/x", "s3://b/x", "gs://b*/x", "b/x"])
def test_what_is_no_cloud_storage_url_is_refused(text):
    """The error shows it."""
    with pytest.raises(gs.BadAddress, match=re.escape(repr(text))):
        gs.parse(text)


def test_folders_of_an_object():
    """From the outermost in."""
    assert gs.folders_of("a/b/c.txt") == ["a", "a/b"]
    assert gs.folders_of("c.txt") == []


def test_options_can_be_bundled_and_stand_anywhere():
    """As `gsutil ls -lh gs://… -r`."""
    split = options.split(["-lx", "v", "a", "-r", "--", "-n"], switches="lrn", valued="x")
    assert split.given == {"l": "", "x": "v", "r": ""}
    assert split.arguments == ["a", "-n"]


def test_a_dash_alone_is_an_argument():
    """It is standard input."""
    assert options.split(["-", "gs://b/x"], switches="", valued="").arguments == ["-", "gs://b/x"]


@pytest.mark.parametrize(
    ("words", "said"), [(["-z"], "option -z not recognized"), (["-x"], "requires argument")]
)
def test_a_wrong_option_is_refused(words, said):
    """With its letter."""
    with pytest.raises(options.BadOption, match=said):
        options.split(words, switches="r", valued="x")


@pytest.mark.parametrize(
    ("arguments", "order"),
    [
        (["now"], PowerOrder("poweroff", 0)),
        (["-h", "now"], PowerOrder("poweroff", 0)),
        (["-P", "now", "bye", "all"], PowerOrder("poweroff", 0)),
        (["-r", "now"], PowerOrder("reboot", 0)),
        (["-h", "+5"], PowerOrder("poweroff", 300)),
        (["+0"], PowerOrder("poweroff", 0)),
        (["-h", "10"], PowerOrder("poweroff", 600)),
        (["12:30"], PowerOrder("poweroff", 1800)),
        (["11:00"], PowerOrder("poweroff", 23 * 3600)),
        ([], PowerOrder("poweroff", 60)),
        (["-c"], PowerOrder("cancel", 60)),
    ],
)
def test_shutdown_is_read_as_its_manual_says(arguments, order):
    """An option for what, a time for when, the rest is a message to users."""
    assert power.read_shutdown(arguments, NOON) == order


@pytest.mark.parametrize("arguments", [["soon"], ["25:00"], ["12:60"], ["-z", "now"], ["+x"], ["-h", ""]])
def test_a_shutdown_that_is_not_clear_is_refused(arguments):
    """Nothing is guessed about when to switch off."""
    with pytest.raises(Unclear):
        power.read_shutdown(arguments, NOON)


def test_the_others_act_at_once():
    """`poweroff`, `halt -p` and `reboot -f`."""
    assert power.read("poweroff", []) == PowerOrder("poweroff", 0)
    assert power.read("halt", ["-p"]) == PowerOrder("poweroff", 0)
    assert power.read("reboot", ["-f"]) == PowerOrder("reboot", 0)
    with pytest.raises(Unclear, match="--firmware-setup"):
        power.read("reboot", ["--firmware-setup"])


VM = {
    "name": "vm1",
    "zone": "https://x/projects/p/zones/us-central1-a",
    "labels": {"b": "2", "a": "1"},
    "count": 3,
    "scheduling": {"preemptible": True},
    "networkInterfaces": [{"accessConfigs": [{"natIP": "1.2.3.4"}]}],
    "tags": {"items": ["x", "y"]},
}


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("value(name,count)", "vm1\t3\n"),
        ("get(name)", "vm1\n"),
        ("value(zone.basename())", "us-central1-a\n"),
        ("value(zone.scope())", "us-central1-a\n"),
        ("value(networkInterfaces[0].accessConfigs[0].natIP)", "1.2.3.4\n"),
        ("value(networkInterfaces[9].accessConfigs[0].natIP)", "\n"),
        ("value(labels,tags.items)", "a=1;b=2\tx;y\n"),
        ("value(scheduling.preemptible,nope)", "True\t\n"),
        ("csv(name,zone.basename())", "name,zone\nvm1,us-central1-a\n"),
        ("csv[no-heading](name)", "vm1\n"),
        ("table(name,zone.basename():label=WHERE)", "NAME  WHERE\nvm1   us-central1-a\n"),
        ("json(labels)", '{\n  "labels": {\n    "a": "1",\n    "b": "2"\n  }\n}\n'),
        ("yaml(scheduling.preemptible)", "scheduling:\n  preemptible: true\n"),
    ],
)
def test_formats_print_as_gcloud_does(form, text):
    """Seen with gcloud 528."""
    assert render([VM], form, single=True) == text


def test_several_resources_are_a_list_in_json():
    """One alone is not, when the command is about one."""
    assert json.loads(render([VM, VM], "json(name)", single=False)) == [{"name": "vm1"}, {"name": "vm1"}]


@pytest.mark.parametrize(
    "form", ["xml", "value", "value(name.upper())", "table[box](name)", "value(name", "config"]
)
def test_a_format_that_is_not_known_is_refused(form):
    """Nothing is printed in another form than asked for."""
    with pytest.raises(BadFormat):
        render([VM], form, single=True)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=20), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["name", "no", "1", "a b", "x: y"]), JSON_VALUES, min_size=1))
def test_yaml_reads_back_as_what_it_was(resource):
    """Whatever text is in it: numbers that are text, words that YAML knows, several lines."""
    assert yaml.safe_load(as_yaml(resource)) == resource


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (5 * 1024**4, "5 TiB")],
)
def test_sizes_for_people(size, text):
    """In powers of 1024, as gsutil prints them."""
    assert human(size) == text


class Refusing:
    """A run of a command that remembers how it failed."""

    def __init__(self, text):
        self.flags = {"--labels": text}

    def fail(self, message, status=1):
        """As `Run.fail`."""
        raise ValueError(f"{status} {message}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a=1,b=2", {"a": "1", "b": "2"}),
        ("a=x=y", {"a": "x=y"}),
        ("^;^a=1,2;b=3", {"a": "1,2", "b": "3"}),
        ("a=", {"a": ""}),
        ("", {}),
    ],
)
def test_dictionaries_are_read_as_gcloud_does(text, found):
    """With its own delimiters where the text names one."""
    assert pairs(Refusing(text), "--labels") == found


def test_a_dictionary_without_values_is_refused():
    """With gcloud's words and status."""
    with pytest.raises(ValueError, match=r"2 argument --labels: Bad syntax for dict arg: \[b\]"):
        pairs(Refusing("a=1,b"), "--labels")
