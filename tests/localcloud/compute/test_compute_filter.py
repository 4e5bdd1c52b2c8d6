"""The filter of lists: what it says, and that a bad one is refused and nothing worse."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from localcloud.compute.filtering import predicate
from localcloud.errors import ApiError
from tests.long import examples

VM = {
    "id": "1795253100620265059",
    "name": "train-1",
    "status": "RUNNING",
    "creationTimestamp": "2026-11-21T08:00:00.000Z",
    "labels": {"job": "mnist", "owner": "ann"},
    "scheduling": {"preemptible": True, "provisioningModel": "SPOT"},
    "zone": "https://x/zones/us-central1-a",
    "tags": {"items": ["a"]},
}


def holds(text, resource=VM, message="Instance"):
    """Whether a filter lets a resource through."""
    return predicate(text, message)(resource)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "status=RUNNING",
        "status = RUNNING",
        'status = "RUNNING"',
        "status != TERMINATED",
        "name = train-*",
        "name:train",
        "name:train-*",
        "name=*-1",
        "labels.job=mnist",
        "labels.job:*",
        "labels.job:mni",
        "NOT labels.team:*",
        "-labels.team:*",
        "labels.team != red",
        "scheduling.preemptible = true",
        "id = 1795253100620265059",
        "id > 5",
        "creationTimestamp > 2026-11-20",
        'creationTimestamp <= "2026-11-21T09:00:00+01:00"',
        "(status=RUNNING) AND (labels.job!=other)",
        "(status=RUNNING) (labels.job=mnist)",
        "status=RUNNING labels.job=mnist",
        "status=TERMINATED OR status=RUNNING",
        "(name=a) OR (name=train-1) AND (status=RUNNING)",
        "status=(STOPPING OR RUNNING)",
        "name eq train-1",
        'name eq "train-.*"',
        "name eq 'train.+'",
        "name ne other",
        "(name eq train.*) (status eq RUNNING)",
        r'name eq ".*\btrain\-1\b.*"',
        "scheduling.preemptible eq true",
        "labels.job eq m.*",
        "labels.team ne red",
    ],
)
def test_a_filter_lets_through_what_it_describes(text):
    """All forms of the two languages that clients send."""
    assert holds(text)


@pytest.mark.parametrize(
    "text",
    [
        "status=TERMINATED",
        "status=running",
        "name=train",
        "name=train-*-x",
        "name:serve",
        "labels.team:*",
        "labels.job:*x",
        "NOT labels.job:*",
        "scheduling.preemptible = false",
        "id < 5",
        "creationTimestamp < 2026-11-21T08:00:00Z",
        "(status=RUNNING) AND (labels.job!=mnist)",
        "(name=a) OR (name=train-1) AND (status=STOPPING)",
        "name eq train",
        "name ne train-1",
        "(name eq train.*) (status eq STOPPING)",
        "description = x",
        "description > x",
    ],
)
def test_a_filter_keeps_out_everything_else(text):
    """One fact apart from what it describes."""
    assert not holds(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("status", "A comparison is expected here"),
        ("status=", "Expected a name or value"),
        ("(status=RUNNING", "Expected )"),
        ('status="RUNNING', "never closed"),
        ("state=RUNNING", "State is no field that can be compared"),
        ("labels=a", "Labels is no field"),
        ("tags.items=a", "Tags.items is no field"),
        ("networkInterfaces.network:default", "no field that can be compared"),
        ("scheduling=x", "Scheduling is no field"),
        ("name=~train", "The operator =~ is not supported"),
        ("name=f(x)", "Functions are not supported"),
        ("id=many", "'many' cannot be compared with this field"),
        ("scheduling.preemptible=maybe", "cannot be compared"),
        ("creationTimestamp>yesterday", "cannot be compared"),
        ("status eq RUNNING AND name eq x", "`(field eq expression)` is expected"),
        ("status eq RUNNING name eq x", "needs parentheses"),
        ("name eq *collector*", "no regular expression"),
        ("name eq", "Expected"),
        ("name eq (a", "`(field eq expression)` is expected"),
        ("x" * 10_001, "longer than 10000 characters"),
    ],
)
def test_a_bad_filter_is_refused_as_the_api_words_it(text, why):
    """The real API says only that it is invalid; ours adds what is wrong with it."""
    with pytest.raises(ApiError) as caught:
        predicate(text, "Instance")
    error = caught.value
    assert (error.status, error.reason) == (400, "invalid")
    assert error.message.startswith(
        f"Invalid value for field 'filter': '{text[:500]}'. Invalid list filter expression."
    )
    assert why.lower() in error.message.lower()


def test_the_filter_that_gcloud_sends_for_a_bulk_request_finds_its_group():
    """A regular expression with word boundaries and escaped dashes, in the older language."""
    text = r'operationGroupId eq ".*\babc\-123\b.*"'
    assert holds(text, {"operationGroupId": "abc-123"}, "Operation")
    assert not holds(text, {"operationGroupId": "abc-1234"}, "Operation")
    assert not holds(text, {}, "Operation")


def test_the_filters_that_people_send_for_preemptions_work():
    """Seen in public code."""
    operation = {
        "operationType": "compute.instances.preempted",
        "targetLink": "https://www.googleapis.com/compute/v1/projects/p/zones/z/instances/vm",
    }
    link = operation["targetLink"]
    assert holds('operationType = "compute.instances.preempted"', operation, "Operation")
    assert holds(
        f'(operationType="compute.instances.preempted") AND (targetLink="{link}")', operation, "Operation"
    )
    assert holds("operationType=compute.instances.preempted", operation, "Operation")


FIELDS = st.sampled_from(
    ["name", "status", "id", "labels.job", "scheduling.preemptible", "creationTimestamp", "tags"]
)
PIECES = st.one_of(
    FIELDS,
    st.sampled_from(
        ["=", "!=", ":", "<", ">=", " eq ", " ne ", "(", ")", " AND ", " OR ", " NOT ", "-", "*", '"', "'"]
    ),
    st.text(max_size=6),
)


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
@example("(" * 2000)
@example("NOT " * 2000 + "name=a")
@example("name eq " + "(" * 500)
@example('name eq "' + "(" * 3000 + '"')
def test_a_filter_is_understood_or_refused_and_never_fails(text):
    """Whatever is sent: a predicate that gives true or false, or a 400."""
    try:
        decide = predicate(text, "Instance")
    except ApiError as error:
        assert error.status == 400
    else:
        assert decide(VM) in (True, False)
        assert decide({}) in (True, False)


@given(
    st.sampled_from(["status=RUNNING", "name=x", "labels.job:*", "id>5"]),
    st.sampled_from(["name=train-1", "id<3"]),
)
def test_and_or_not_are_what_they_are(left, right):
    """The laws of logic hold for the joined filters."""
    a, b = holds(left), holds(right)
    assert holds(f"{left} AND {right}") == (a and b)
    assert holds(f"{left} OR {right}") == (a or b)
    assert holds(f"NOT ({left})") == (not a)
    assert holds(f"NOT ({left} OR {right})") == holds(f"(NOT {left}) AND (NOT {right})")
