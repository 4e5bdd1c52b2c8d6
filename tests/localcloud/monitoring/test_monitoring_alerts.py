"""Alert policies and notification channels: checked, kept, given back."""

from typing import Any

import httpx
import pytest
from google.api_core import exceptions
from google.cloud import monitoring_v3

from tests.localcloud.stand import PROJECT

NAME = f"projects/{PROJECT}"
CONDITION = {
    "display_name": "idle",
    "condition_threshold": {
        "filter": 'metric.type = "agent.googleapis.com/gpu/utilization" AND resource.type = "gce_instance"',
        "comparison": "COMPARISON_LT",
        "threshold_value": 5,
        "duration": {"seconds": 600},
        "aggregations": [{"alignment_period": {"seconds": 300}, "per_series_aligner": "ALIGN_MEAN"}],
    },
}
POLICY = {"display_name": "Idle GPUs", "combiner": "OR", "conditions": [CONDITION]}
EMAIL = {"type": "email", "display_name": "Ops", "labels": {"email_address": "ops@example.com"}}


def threshold(**changed: Any) -> dict[str, Any]:
    """The policy with another threshold condition."""
    condition = {**CONDITION, "condition_threshold": {**CONDITION["condition_threshold"], **changed}}
    return {**POLICY, "conditions": [condition]}


def test_a_policy_is_given_back_with_names_and_records(policies: monitoring_v3.AlertPolicyServiceClient):
    """The server names it and its conditions, and switches it on."""
    made = policies.create_alert_policy(name=NAME, alert_policy=POLICY)
    assert made.name.startswith(f"{NAME}/alertPolicies/")
    assert made.conditions[0].name.startswith(f"{made.name}/conditions/")
    assert made.enabled
    assert made.creation_record.mutate_time is not None
    assert policies.get_alert_policy(name=made.name) == made
    assert list(policies.list_alert_policies(name=NAME)) == [made]


def test_a_policy_is_changed_and_deleted(policies: monitoring_v3.AlertPolicyServiceClient):
    """Only what the mask names changes; afterwards it is gone."""
    made = policies.create_alert_policy(name=NAME, alert_policy=POLICY)
    change = monitoring_v3.AlertPolicy(name=made.name, display_name="Other", enabled=False)
    found = policies.update_alert_policy(alert_policy=change, update_mask={"paths": ["display_name"]})
    assert (found.display_name, found.enabled) == ("Other", True)
    policies.delete_alert_policy(name=made.name)
    with pytest.raises(exceptions.NotFound):
        policies.get_alert_policy(name=made.name)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({**POLICY, "display_name": ""}, "display_name"),
        ({**POLICY, "combiner": 0}, "combiner"),
        ({**POLICY, "conditions": []}, "1 to 6 conditions"),
        ({**POLICY, "conditions": [CONDITION] * 7}, "1 to 6 conditions"),
        ({**POLICY, "conditions": [{"display_name": "x"}]}, "One kind of condition"),
        (
            {**POLICY, "notification_channels": [f"{NAME}/notificationChannels/1"]},
            "no such notification channel",
        ),
        (threshold(filter='resource.type = "gce_instance"'), "metric.type"),
        (threshold(duration={"seconds": 61}), "multiple of a minute"),
        (threshold(aggregations=[{"per_series_aligner": "ALIGN_MEAN"}]), "alignmentPeriod"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(
    policies: monitoring_v3.AlertPolicyServiceClient, policy: Any, words: str
):
    """With the field, and nothing is kept."""
    with pytest.raises(exceptions.InvalidArgument, match=words):
        policies.create_alert_policy(name=NAME, alert_policy=policy)
    assert list(policies.list_alert_policies(name=NAME)) == []


def test_policies_are_listed_by_filter(policies: monitoring_v3.AlertPolicyServiceClient):
    """By name and by user label."""
    policies.create_alert_policy(name=NAME, alert_policy={**POLICY, "user_labels": {"team": "ml"}})
    policies.create_alert_policy(name=NAME, alert_policy={**POLICY, "display_name": "Other"})
    for text in (
        'display_name = "Idle GPUs"',
        'user_labels.team = "ml"',
        'display_name = has_substring("Idle")',
    ):
        listed = policies.list_alert_policies(request={"name": NAME, "filter": text})
        assert [each.display_name for each in listed] == ["Idle GPUs"]


def test_a_channel_that_is_used_goes_only_by_force(
    policies: monitoring_v3.AlertPolicyServiceClient, channels: monitoring_v3.NotificationChannelServiceClient
):
    """By force it goes from the policy too."""
    channel = channels.create_notification_channel(name=NAME, notification_channel=EMAIL)
    policy = policies.create_alert_policy(
        name=NAME, alert_policy={**POLICY, "notification_channels": [channel.name]}
    )
    with pytest.raises(exceptions.FailedPrecondition, match=policy.name):
        channels.delete_notification_channel(name=channel.name)
    channels.delete_notification_channel(name=channel.name, force=True)
    assert not policies.get_alert_policy(name=policy.name).notification_channels
    assert list(channels.list_notification_channels(name=NAME)) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({**EMAIL, "type": "pigeon"}, "Must be one of email"),
        ({**EMAIL, "labels": {}}, r"labels\['email_address'\]"),
    ],
)
def test_a_channel_that_cannot_be_is_refused(
    channels: monitoring_v3.NotificationChannelServiceClient, wrong: Any, words: str
):
    """With the field that is missing or wrong."""
    with pytest.raises(exceptions.InvalidArgument, match=words):
        channels.create_notification_channel(name=NAME, notification_channel=wrong)


def test_a_policy_goes_over_rest_as_infrastructure_files_have_it(http: httpx.Client):
    """In camel case, with durations as text."""
    policy = {
        "displayName": "Idle GPUs",
        "combiner": "OR",
        "conditions": [
            {
                "displayName": "idle",
                "conditionThreshold": {
                    "filter": CONDITION["condition_threshold"]["filter"],
                    "comparison": "COMPARISON_LT",
                    "thresholdValue": 5,
                    "duration": "600s",
                },
            }
        ],
    }
    made = http.post(f"/v3/{NAME}/alertPolicies", json=policy).json()
    assert made["conditions"][0]["conditionThreshold"]["duration"] == "600s"
    assert http.get(f"/v3/{made['name']}").json() == made
    assert http.delete(f"/v3/{made['name']}").json() == {}
    assert http.get(f"/v3/{NAME}/alertPolicies").json() == {}
