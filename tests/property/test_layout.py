"""The contract with the jobs: every object name, both ways."""

from datetime import date
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotwarden import layout
from spotwarden.layout import Layout, NotInLayoutError, ObjectName
from spotwarden.layout.table import TEMPLATES

LABELS = st.from_regex(layout.table.LABEL, fullmatch=True)
JOBS = LABELS.filter(lambda job: job not in layout.RESERVED_JOBS)
PARTS = st.text(
    st.characters(exclude_characters="/\r\n", exclude_categories=["Cs"]), min_size=1, max_size=12
).filter(lambda part: part not in {".", ".."})
NUMBERS = st.integers(1, 2**63 - 1)
FIELDS = {
    "job": JOBS,
    "node": LABELS,
    "path": st.lists(PARTS, min_size=1, max_size=4).map("/".join),
    "attempt": NUMBERS,
    "generation": NUMBERS,
    "instance_id": NUMBERS.map(str),
    "rule": st.sampled_from(["idle", "job-runtime", "orphan_disk"]),
    "key": st.text(st.characters(exclude_categories=["Cs"]), max_size=80).map(layout.quarantine_key),
    "person": st.text(st.characters(exclude_categories=["Cs"]), max_size=80).map(layout.person_key),
    "channel": st.sampled_from(["email", "hook"]),
    "digest": st.binary(max_size=8).map(lambda data: sha256(data).hexdigest()),
    "notice": st.text(max_size=20).map(layout.notice_key),
    "machine": st.sampled_from(["g2-standard-8", "custom-4-8192", "n2-custom-4-65536-ext"]),
    "function": st.sampled_from(["recover_spot", "reap_vms"]),
    "day": st.dates(min_value=date(2000, 1, 1)),
    "entry": st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}", fullmatch=True),
}
PREFIXES = st.sampled_from(["", "users/", "a/b/", "preempted-jobs/"])
THINGS = st.sampled_from(sorted(TEMPLATES, key=lambda kind: kind.__name__)).flatmap(
    lambda kind: st.builds(kind, **{field: FIELDS[field] for field in kind.__struct_fields__})
)


@given(THINGS, PREFIXES)
def test_what_is_built_is_read_back(thing: ObjectName, prefix: str):
    """parse(build(x)) == x, for every kind of object and every prefix."""
    names = Layout(prefix=prefix)
    assert names.parse(names.build(thing)) == thing


@given(st.text(), PREFIXES)
def test_any_other_string_is_refused_with_a_reason(text: str, prefix: str):
    """A name either stands for exactly one thing or is refused in words."""
    names = Layout(prefix=prefix)
    try:
        thing = names.parse(text)
    except NotInLayoutError as refusal:
        assert refusal.reason
        assert refusal.name == text
    else:
        assert names.build(thing) == text


@given(THINGS, st.integers(0, 200), st.characters(exclude_categories=["Cs"]))
def test_one_changed_character_never_reads_as_the_same_thing(thing: ObjectName, at: int, character: str):
    """Two names never stand for one thing."""
    name = Layout().build(thing)
    other = name[: at % len(name)] + character + name[at % len(name) + 1 :]
    try:
        assert Layout().parse(other) != thing or other == name
    except NotInLayoutError:
        assert other != name


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("preempted-jobs/../test-vm", "'../test-vm' is not a valid name"),
        ("preempted-jobs/", "'' is not a valid name"),
        ("heartbeats/Test", "'Test' is not a valid name"),
        ("heartbeats/metadata/status-code", "is not a valid name"),
        ("heartbeats/metadata/create-instance.sh", "is not a valid name"),
        ("preempted-jobs/Test", "'Test' is not a valid name"),
        ("preempted-jobs/my-code.tar", "is not a valid name"),
        ("preempted-jobs/metadata/status-code", "is not a valid name"),
        ("spotwarden/metadata/status-code", "below spotwarden/"),
        ("spotwarden/output/x", "below spotwarden/"),
        ("spotwarden/audit/2026-02-30/x.json", "not a calendar date"),
        ("test-vm", "own folder"),
        ("test-vm/notes.txt", "inside a job"),
        ("test-vm/output/", "inside a job"),
        ("test-vm/output/../metadata/create-instance.sh", "relative path"),
        ("test-vm/metadata/attempts/01.json", "inside a job"),
        ("test-vm/metadata/attempts/0.json", "inside a job"),
        ("1job/metadata/status-code", "'1job' is not a valid name"),
        ("", "own folder"),
        (f"test-vm/output/{'x' * 1024}", "longer than 1024 bytes"),
    ],
)
def test_a_refusal_says_what_is_wrong(name: str, word: str):
    """A person understands from the reason what to change."""
    with pytest.raises(NotInLayoutError, match=word.replace("(", r"\(")):
        Layout().parse(name)


@pytest.mark.parametrize(
    "thing",
    [
        layout.Code(job="Bad_Name"),
        layout.Code(job="spotwarden"),
        layout.Code(job="heartbeats"),
        layout.Output(job="a", path="../b"),
    ],
)
def test_a_bad_part_is_refused_when_a_name_is_built(thing: ObjectName):
    """Nothing that could not be read back is ever written."""
    with pytest.raises(NotInLayoutError):
        Layout().build(thing)


@pytest.mark.parametrize("prefix", ["users", "/users/", "a//b/", "../", "/"])
def test_a_prefix_that_is_no_folder_is_refused(prefix: str):
    """The bucket prefix is empty or a path that ends in a slash."""
    with pytest.raises(NotInLayoutError, match="prefix"):
        Layout(prefix=prefix)


def test_the_same_name_under_another_prefix_is_outside():
    """A function set to one prefix never reads another team's objects."""
    with pytest.raises(NotInLayoutError, match="outside the bucket prefix 'users/'"):
        Layout(prefix="users/").parse("test-vm/metadata/status-code")


def owner(node: str = "test-vm-1", **facts: object) -> str:
    """The job of a node, with nothing known unless told."""
    return layout.job_of(node, **{"said": None, "jobs": (), "registered": (), **facts})


def test_a_marker_that_names_its_job_belongs_to_it():
    """The body's word comes first, where that job exists."""
    assert owner(said="other", jobs=["other", "test-vm-1"], registered=["third"]) == "other"


def test_a_marker_that_names_an_unknown_job_is_refused():
    """A body is not believed about a job that has no folder."""
    with pytest.raises(NotInLayoutError, match="'other', which has no folder"):
        owner(said="other", jobs=["test-vm-1"])


def test_a_job_of_the_nodes_own_name_owns_it():
    """A single-node job's VM has the job's name."""
    assert owner("test-vm", jobs=["test-vm"]) == "test-vm"


def test_a_job_that_registered_the_node_owns_it():
    """The nodes of a bulk job are known by their stored instance ids."""
    assert owner(jobs=["test-vm"], registered=["test-vm"]) == "test-vm"


def test_a_suffix_alone_says_nothing():
    """`test-vm-1` is not taken for a node of `test-vm` because it looks like one."""
    with pytest.raises(NotInLayoutError, match="no job has this name"):
        owner(jobs=["test-vm"])


def test_a_node_of_two_jobs_belongs_to_none():
    """Two registrations are told, not chosen from."""
    with pytest.raises(NotInLayoutError, match="several jobs: a, b"):
        owner(registered=["b", "a"])
