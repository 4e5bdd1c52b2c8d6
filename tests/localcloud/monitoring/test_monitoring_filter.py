"""Monitoring filters choose series by metric, resource and labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcloud.monitoring.filter import series_filter
from localcloud.monitoring.series import SeriesIdentity
from localcloud.rpc import RpcError

GPU = "agent.googleapis.com/gpu/utilization"
SERIES = SeriesIdentity(
    metric=GPU,
    metric_labels={"gpu_number": "0", "model": "Tesla T4"},
    resource="gce_instance",
    resource_labels={"zone": "us-central1-a", "instance_id": "42"},
)


def is_chosen(rest: str) -> bool:
    """Whether a filter for the metric with this at its end chooses the series."""
    metric, wanted = series_filter(f'metric.type = "{GPU}" {rest}', "project")
    assert metric == GPU
    return wanted(SERIES)


@pytest.mark.parametrize(
    "rest",
    [
        "",
        'AND resource.type = "gce_instance"',
        "resource.type = gce_instance",
        "AND resource.labels.zone = 'us-central1-a'",
        'AND resource.label.zone = "us-central1-a"',
        'AND metric.labels."gpu_number" = "0"',
        'AND resource.labels.zone != "us-east1-b"',
        'AND resource.labels.zone = starts_with("us-")',
        'AND resource.labels.zone = ends_with("-a")',
        'AND resource.labels.zone = has_substring("central")',
        'AND resource.labels.zone = monitoring.regex.full_match("us-(central|east)1-[ab]")',
        'AND resource.labels.zone != monitoring.regex.full_match("us")',
        'AND resource.labels.instance_id = one_of("41", "42")',
        'AND (resource.labels.instance_id = "41" OR resource.labels.instance_id = "42")',
        'AND resource.labels.instance_id = ("41" OR "42")',
        'AND NOT resource.labels.instance_id = "41"',
        'AND -resource.labels.instance_id = "41"',
        'AND metric.labels.model:"T4"',
        'AND project = "project"',
        'AND resource.labels.absent = ""',
        'AND resource.labels.zone > "us"',
        'AND metadata.user_labels.team != "ml"',
    ],
)
def test_a_filter_chooses_what_it_describes(rest: str):
    """Each form of the documented syntax, met."""
    assert is_chosen(rest)


@pytest.mark.parametrize(
    "rest",
    [
        'AND resource.type = "global"',
        'AND resource.labels.zone = "US-CENTRAL1-A"',
        'AND resource.labels.zone != "us-central1-a"',
        'AND resource.labels.zone = starts_with("central")',
        'AND resource.labels.zone = monitoring.regex.full_match("us")',
        'AND resource.labels.instance_id = one_of("4", "2")',
        'AND NOT (resource.labels.instance_id = "42" OR resource.type = "global")',
        'AND metric.labels.model:"t4"',
        'AND project = "other"',
        'AND resource.labels.absent != ""',
    ],
)
def test_a_filter_leaves_out_what_it_does_not_describe(rest: str):
    """Each form, missed by one fact."""
    assert not is_chosen(rest)


def test_or_binds_tighter_than_and():
    """`a OR b AND c` is `(a OR b) AND c`, in this language."""
    assert not is_chosen(
        'AND resource.type = "gce_instance" OR project = "x" AND metric.labels.model = "none"'
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", 'must specify a restriction on "metric.type"'),
        ('resource.type = "gce_instance"', 'must specify a restriction on "metric.type"'),
        ('metric.type = starts_with("agent")', 'must specify a restriction on "metric.type"'),
        ('metric.type = "a" OR metric.type = "b"', 'must specify a restriction on "metric.type"'),
        ('metric.type = "a" AND metric.type = "b"', 'must specify a restriction on "metric.type"'),
        ('NOT metric.type = "a"', 'must specify a restriction on "metric.type"'),
        ('metric.type = "a" AND zone = "b"', "'zone' cannot be compared"),
        ('metric.type = "a" AND resource.labels.z = matches("b")', "there is no function 'matches'"),
        ('metric.type = "a" AND resource.labels.z > starts_with("b")', "goes with = and != only"),
        ('metric.type = "a" AND resource.labels.z = starts_with("b", "c")', "takes one argument"),
        ('metric.type = "a" AND resource.labels.z =~ "b"', "there is no operator '=~'"),
        (
            'metric.type = "a" AND resource.labels.z = monitoring.regex.full_match("(")',
            "is no regular expression",
        ),
        (
            'metric.type = "a" AND resource.labels.z = monitoring.regex.full_match("(a)\\\\1")',
            "which RE2 does not know",
        ),
        ('metric.type = "a" AND "word"', "a comparison is missing here"),
    ],
)
def test_what_is_no_filter_is_refused_with_a_reason(text: str, reason: str):
    """The refusal repeats the filter and says what does not fit."""
    with pytest.raises(RpcError) as refused:
        series_filter(text, "project")
    assert refused.value.code == "INVALID_ARGUMENT"
    assert refused.value.message.startswith(f'Field filter had an invalid value of "{text}": ')
    assert reason in refused.value.message


PIECES = st.sampled_from([
    *'()-,.:=x"', " ", "metric.type", '"a"', "resource.labels.z", "one_of(", "monitoring.regex.full_match(",
    "AND", "OR", "NOT", "!=", ">", '"["', "''",
])  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=60))
def test_no_text_does_worse_than_being_refused(text: str):
    """Any text is a filter or an INVALID_ARGUMENT."""
    try:
        _, wanted = series_filter(f'metric.type = "a" {text}', "project")
    except RpcError as error:
        assert error.code == "INVALID_ARGUMENT"
    else:
        assert wanted(SERIES) in (True, False)
