"""Whatever stands on a command line or in a file: a request or a refusal, and that soon."""

import json
import signal
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spotwarden.create_script.gcloud import Defaults, requests
from spotwarden.create_script.gcloud.flagset import flags_of
from spotwarden.create_script.gcloud.letters import BULK, CONTAINER, CREATE
from spotwarden.create_script.gcloud.surface import Taker
from spotwarden.create_script.gcloud.tables import words
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, SimpleCommand, Unknown
from spotwarden.model.gcloud import NEWEST
from tests.long import examples

LEADS = {
    CREATE: ["compute", "instances", "create", "vm"],
    BULK: [
        "compute",
        "instances",
        "bulk",
        "create",
        "--name-pattern=w-#",
        "--count=2",
        "--zone=us-central1-a",
    ],
    CONTAINER: [
        *("compute", "instances", "create-with-container", "vm"),
        *("--container-image=nginx", "--image=cos-1", "--image-project=cos-cloud"),
    ],
}
PIECES = st.sampled_from(
    sorted(
        words(
            """
            a 1 0 -1 yes no = == , ; : / // ^ ^;^ ^^ - -- default projects/p/zones/z/disks/d
            projects/p/regions/r/x https://www.googleapis.com/compute/v1/projects/p/global/networks/n
            name=d size=10 type=t boot=yes mode=ro key=value file.yaml 10GB 1h 2031-01-01 1.2.3.4
            2001:db8::1 a@b.c us-central1-a=allow mount-path=/a tagKeys/1=tagValues/2 host-path=/a
            subnet=s no-address nic-type=gvnic specific SPOT é
            """
        )
    )
)
VALUES = st.one_of(
    st.lists(PIECES, max_size=4).map(",".join), st.lists(PIECES, max_size=3).map("".join), st.text()
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), PIECES)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@contextmanager
def limited(seconds):
    """Break off what computes longer than this."""

    def break_off(*_):
        raise TimeoutError(f"still computing after {seconds} s")

    signal.signal(signal.SIGVTALRM, break_off)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@st.composite
def flag_words(draw, command, track):
    """One flag of this command, right or nearly so."""
    name = draw(st.sampled_from(sorted(flags_of(Taker(command=command, track=track, version=NEWEST)))))
    form = draw(st.integers(0, 3))
    if form == 0:
        return [f"--{name}"]
    if form == 1:
        return [f"--{name}", draw(VALUES)]
    return [f"--{'no-' if form == 2 else ''}{name}={draw(VALUES)}"]


@st.composite
def lines(draw):
    """A whole command line: a create with some flags, and perhaps a word too many."""
    command, track = draw(st.sampled_from(sorted(LEADS))), draw(st.sampled_from(["v1", "beta", "alpha"]))
    line = [*([] if track == "v1" else [track]), *LEADS[command]]
    for _ in range(draw(st.integers(0, 5))):
        line += draw(flag_words(command, track))
    return line + draw(st.lists(VALUES, max_size=1))


def outcome(line, files=None):
    """Translate a command line; nothing but `ScriptRefused` may come out of it."""
    command = SimpleCommand(
        words=tuple(ExpandedWord(value=word, line=1) for word in ["gcloud", *line]),
        line=1,
        environment={},
        files=files or {},
    )
    try:
        return requests([command], Defaults(project="demo-project", zone="us-central1-a"))
    except ScriptRefused as refused:
        assert refused.line == 1
        return refused.reason


@settings(max_examples=examples(400), deadline=None)
@given(lines(), st.binary(max_size=60))
def test_a_random_command_line_is_translated_or_refused(line, content):
    """Requests are JSON, and a refusal says something."""
    found = outcome(line, {"file.yaml": content, "a": content})
    assert found != ""
    if isinstance(found, list):
        json.dumps([request.body for request in found])


@settings(max_examples=examples(150), deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(sorted(flags_of(Taker(command=CREATE, track="v1", version=NEWEST)))).map(
            "--{}".format
        ),
        TREES,
        max_size=4,
    )
)
def test_a_random_flags_file_is_translated_or_refused(flags):
    """JSON is YAML, and any tree may stand behind a flag."""
    assert outcome([*LEADS[CREATE], "--flags-file=f"], {"f": json.dumps(flags).encode()})


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200), st.sampled_from(["--flags-file", "--node-affinity-file", "--csek-key-file"]))
@example("- &a [*a]", "--flags-file")
@example("? [a]: b", "--node-affinity-file")
@example("!!python/object:os.system x", "--flags-file")
@example("2031-99-99", "--node-affinity-file")
@example("- " * 5000, "--flags-file")
@example("[" * 5000, "--csek-key-file")
def test_a_random_file_is_read_or_refused(content, flag):
    """Whichever parser it meets."""
    assert outcome([*LEADS[CREATE], f"{flag}=f"], {"f": content.encode()})


MEGABYTE = 1_000_000
LONG = {
    "an unknown flag": ["--" + "x" * MEGABYTE],
    "a name": ["x" * MEGABYTE],
    "a size": ["--boot-disk-size=" + "9" * MEGABYTE],
    "a duration": ["--max-run-duration=" + "1h" * (MEGABYTE // 2)],
    "a number": ["--threads-per-core=" + "9" * MEGABYTE],
    "a moment": ["--termination-time=" + "2" * MEGABYTE],
    "labels": ["--labels=" + ",".join(f"k{n}=v" for n in range(100_000))],
    "metadata": ["--metadata=^^^a=" + "^" * MEGABYTE],
    "a format": ["--format=value(" + "[](" * (MEGABYTE // 3)],
    "a project": ["--project=" + "a." * (MEGABYTE // 2)],
    "an e-mail address": ["--service-account=" + "a@b." * (MEGABYTE // 4)],
    "a URL": ["--network=https://" + "compute/v1/" * (MEGABYTE // 11)],
    "a subnetwork": ["--subnet=" + "projects/regions/" * (MEGABYTE // 17)],
    "alias ranges": ["--network-interface=aliases=" + "a:/24;" * (MEGABYTE // 6)],
    "an address": ["--address=" + "1." * (MEGABYTE // 2)],
    "a key": ["--boot-disk-kms-key=" + "projects/locations/" * (MEGABYTE // 19)],
    "flags": ["--no-address"] * 100_000,
    "names": [f"vm-{number}" for number in range(1_900)],
}


@pytest.mark.parametrize("line", LONG.values(), ids=LONG)
def test_a_megabyte_is_translated_or_refused_before_long(line):
    """What grows with the square of the length would take hours, and is broken off."""
    with limited(seconds=30):
        assert outcome([*LEADS[CREATE], *line])


def test_a_flags_file_that_grows_by_references_is_refused():
    """Ten levels of ten references each would be ten thousand million values."""
    levels = ["- &l0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"- &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "holds more than" in outcome([*LEADS[CREATE], "--flags-file=f"], {"f": "\n".join(levels).encode()})


def test_flags_files_that_name_one_another_are_refused():
    """In a circle, and also as a tree that would have no end."""
    circle = {"f": b"--flags-file: g", "g": b"--flags-file: f"}
    tree = {f"f{n}": f"--flags-file: [{', '.join([f'f{n + 1}'] * 9)}]".encode() for n in range(3)}
    tree["f3"] = b"--no-address:"
    assert "too many" in outcome([*LEADS[CREATE], "--flags-file=f"], circle)
    assert "too many" in outcome([*LEADS[CREATE], "--flags-file=f0"], tree)


def test_an_unknown_word_never_becomes_part_of_a_request():
    """It is refused before anything is read."""
    unknown = Unknown(reason="the output of date", line=1)
    assert outcome([*LEADS[CREATE], "--description", unknown]) == "the output of date"
