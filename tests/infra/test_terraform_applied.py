"""What Terraform makes of the manifest: planned and applied by the real one, to a cloud that is made up."""

import json
import re
import shutil
from collections.abc import Mapping
from itertools import chain
from typing import Any

import pytest

from localcloud.deployment import Where, read_manifest
from localcloud.deployment.wiring import NOTHING, listens, wires
from spotwarden.cli.deployment.examining import MOST_OF_LABEL
from spotwarden.layout import MARKERS, Layout
from spotwarden.layout.table import TEMPLATES
from tests.infra.applied import GIVEN, ROOT, VIEWER, VM, applied, manifest
from tests.infra.cel import LOGICAL, allows

if not shutil.which("terraform"):
    pytest.skip(
        "there is no terraform here; test_terraform.py holds what can be held without",
        allow_module_level=True,
    )

ROWS = {row["name"]: row for row in manifest()["functions"]}
NAMES = sorted(ROWS)
PUBLIC = sorted(name for name, row in ROWS.items() if row.get("http") == "public")
ASKED = sorted(name for name, row in ROWS.items() if row.get("http"))
PUBSUB = "serviceAccount:spotwarden-invoker@a-project.iam.gserviceaccount.com"
TICKED = sorted(name for name, row in ROWS.items() if row.get("schedule"))
PUBLISH, ACT_AS = "pubsub.topics.publish", "iam.serviceAccounts.actAs"
BUCKET = "projects/_/buckets/runs/objects/"
PARTS = {
    "job": "a-job", "node": "a-job-1", "path": "deep/file", "attempt": "2", "generation": "7", "rule": "idle",
    "key": "k", "person": "p", "channel": "mail", "notice": "0" * 32, "machine": "g2", "function": "reap_vms",
    "day": "2026-11-21", "entry": "e", "digest": "0" * 64,
}  # fmt: skip
OBJECTS = {kind.__name__: f"users/{template.format(**PARTS)}" for kind, template in TEMPLATES.items()}


@pytest.fixture(scope="module")
def terraform(tmp_path_factory):
    """Terraform, with everything applied once."""
    for one in applied(tmp_path_factory.mktemp("terraform")):
        one.must("apply", "-auto-approve", "-input=false")
        yield one


@pytest.fixture(scope="module")
def made(terraform):
    """Everything that was made, by type."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in terraform.there():
        if one["mode"] == "managed":
            found.setdefault(one["type"].removeprefix("google_"), []).append(one["values"])
    return found


def deployed(name):
    """The name of the service."""
    return name.replace("_", "-")


def member(name):
    """The function, as IAM calls it."""
    return f"serviceAccount:spotwarden-{deployed(name)}@a-project.iam.gserviceaccount.com"


def of(things, **said):
    """Those of them of which this is so."""
    return [one for one in things if said.items() <= one.items()]


def permissions(made, role):
    """What a role of ours holds."""
    (found,) = [one for one in made["project_iam_custom_role"] if one["name"] == role]
    return set(found["permissions"])


def test_terraform_finds_the_configuration_valid(terraform):
    """Types, functions and references, as Terraform itself judges them."""
    assert json.loads(terraform.must("validate", "-json"))["diagnostics"] == []


def test_a_second_deployment_changes_nothing(terraform):
    """Again and again without harm: what is there as it should be is left alone."""
    assert terraform.run("plan", "-detailed-exitcode", "-input=false").returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_function_is_deployed_as_its_row_says(made, name):
    """Its entry point, memory and time, under its own account, from the archive of its own checksum."""
    (function,) = of(made["cloudfunctions2_function"], name=deployed(name))
    (build,), (service,) = function["build_config"], function["service_config"]
    assert build["entry_point"] == name
    assert service["available_memory"] == ROWS[name]["memory"]
    assert service["timeout_seconds"] == ROWS[name]["timeout_seconds"]
    assert f"serviceAccount:{service['service_account_email']}" == member(name)
    archive = build["source"][0]["storage_source"][0]["object"]
    assert re.fullmatch(rf"{name}/[0-9a-f]{{64}}\.zip", archive)
    assert archive.startswith(f"{name}/{function['labels']['archive']}")
    assert len(function["labels"]["archive"]) == MOST_OF_LABEL
    assert not function["event_trigger"]
    assert 6 <= len(service["service_account_email"].partition("@")[0]) <= 30


@pytest.mark.parametrize("name", NAMES)
def test_a_function_is_told_where_everything_is_and_observes(made, name):
    """What settings.py reads; a first deployment observes. Who sends mails is told where answers go."""
    (function,) = of(made["cloudfunctions2_function"], name=deployed(name))
    told = function["service_config"][0]["environment_variables"]
    mails = {"ANSWERS": "google_cloudfunctions2_function/answer-notice/service_config.uri/"}
    assert {key.removeprefix("SPOTWARDEN_"): value for key, value in told.items()} == {
        "LOG_EXECUTION_ID": "true",
        "MALLOC_ARENA_MAX": "1",
        "PROJECT": "a-project",
        "BUCKET": "runs",
        "PREFIX": "users/",
        "NOTICES": "spotwarden-notices",
        "MODE": "observe",
        "OPS": "ops@example.com",
        **(mails if "SPOTWARDEN_SMTP" in ROWS[name].get("secrets", ()) else {}),
    }


def test_what_a_build_compiles_fits_its_sources_by_content(made):
    """All files of an image have one date: compiled by date, each start would compile them anew."""
    for function in made["cloudfunctions2_function"]:
        (build,) = function["build_config"]
        assert int(build["environment_variables"]["SOURCE_DATE_EPOCH"]) > 0


def test_no_function_is_built_before_its_builder_may(terraform):
    """Read sources, write logs, write images: a build that comes first fails."""
    rights = set(re.findall(r'"(google_[a-z_]+_iam_member)" "builder"', _text("functions.tf")))
    assert len(rights) == 2
    graph = terraform.must("graph", "-type=plan")
    for module in ("woken", "private", "public"):
        for right in rights:
            begun = f'"[root] module.{module} (expand)" -> "[root] {right}.builder (expand)"'
            assert begun in graph.replace(" (close)", " (expand)"), begun


def _text(name):
    return (ROOT / "infra/terraform" / name).read_text()


def test_what_is_no_failure_of_a_function_is_no_alert(made):
    """Asked again, no instance free, a grant on its way, strangers: a storm of these would wake somebody."""
    (failing,) = of(made["monitoring_alert_policy"], display_name="Spotwarden: a function fails (woken)")
    words = failing["conditions"][0]["condition_threshold"][0]["filter"]
    for code in ("401", "403", "404", "429", "503"):
        assert f'metric.labels.response_code != "{code}"' in words


def test_without_keys_no_links_are_sent(bare):
    """They could not be signed."""
    words = json.dumps([one["values"] for one in bare if one["type"] == "google_cloudfunctions2_function"])
    assert "SPOTWARDEN_PROJECT" in words
    assert "SPOTWARDEN_ANSWERS" not in words


def test_without_links_nobody_from_outside_may_call_anything(terraform):
    """As domain restricted sharing asks: no grant for all, no address of answers in a mail."""
    planned = terraform.planned({**GIVEN, "links": "false"})
    words = json.dumps([one["values"] for one in planned])
    assert "SPOTWARDEN_PROJECT" in words
    assert "allUsers" not in words
    assert "SPOTWARDEN_ANSWERS" not in words


def test_no_token_of_a_link_is_kept_in_a_log(made):
    """Cloud Run logs the address of every request: those of public functions are left out."""
    left_out = {one["filter"] for one in made.get("logging_project_exclusion", [])}
    assert left_out == {
        f'resource.type="cloud_run_revision" AND resource.labels.service_name="{deployed(name)}"'
        ' AND log_id("run.googleapis.com/requests")'
        for name in PUBLIC
    }


@pytest.mark.parametrize("name", NAMES)
def test_only_those_who_should_can_call_a_function(made, name):
    """Anybody the public ones; the report who is named, too; all others Pub/Sub alone, from inside."""
    (function,) = of(made["cloudfunctions2_function"], name=deployed(name))
    callers = of(made["cloud_run_v2_service_iam_member"], name=deployed(name))
    assert {one["role"] for one in callers} == {"roles/run.invoker"}
    viewers = [VIEWER] if name in ASKED and name not in PUBLIC else []
    assert {one["member"] for one in callers} == {"allUsers" if name in PUBLIC else PUBSUB, *viewers}
    assert (function["service_config"][0]["ingress_settings"] == "ALLOW_ALL") is (name in ASKED)


def test_the_report_is_for_nobody_unless_somebody_is_named(bare):
    """It shows all jobs: no grant is made that nobody has asked for, and none for all."""
    called = [one["values"] for one in bare if one["type"] == "google_cloud_run_v2_service_iam_member"]
    assert {one["member"] for one in called if one["name"] == "report-jobs"} == {PUBSUB}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_may_do_what_its_row_says_and_no_more(made, name):
    """Every permission is granted once, on the narrowest thing that has it."""
    row = ROWS[name]
    mine = {kind: of(made.get(kind, []), member=member(name)) for kind in made if kind.endswith("iam_member")}
    on_project = set(chain(*(permissions(made, one["role"]) for one in mine["project_iam_member"])))
    assert on_project == set(row["permissions"]) - {PUBLISH, ACT_AS}
    told = sorted((one["topic"], one["role"]) for one in mine["pubsub_topic_iam_member"])
    topics = ["spotwarden-notices"] * (PUBLISH in row["permissions"])
    topics += [f"spotwarden-{deployed(name)}"] * row.get("wakes_itself", False)
    assert told == sorted((topic, "roles/pubsub.publisher") for topic in topics)
    acts = [
        (one["service_account_id"], permissions(made, one["role"]))
        for one in mine["service_account_iam_member"]
    ]
    assert acts == ([(f"projects/-/serviceAccounts/{VM}", {ACT_AS})] if ACT_AS in row["permissions"] else [])
    in_bucket = set(chain(*(permissions(made, one["role"]) for one in mine["storage_bucket_iam_member"])))
    assert in_bucket == set(row.get("bucket_permissions", ()))
    kinds = {"project", "pubsub_topic", "service_account", "storage_bucket", "secret_manager_secret"}
    assert {kind.removesuffix("_iam_member") for kind, found in mine.items() if found} <= kinds


@pytest.fixture(scope="module")
def bare(terraform):
    """What is planned where only what must be said is said."""
    needed = {name: GIVEN[name] for name in ("project", "region", "bucket", "alert_email")}
    return terraform.planned(needed)


def test_without_accounts_to_act_as_nobody_may_act_as_any(bare):
    """They are named one by one, never granted over the project."""
    acting = [one for one in bare if one["type"] == "google_service_account_iam_member"]
    assert [one["name"] for one in acting] == ["tokens"]


def test_what_is_rarely_meant_is_warned_about(terraform):
    """No accounts to give, or Compute Engine's default one; a deployment that is as it should be is not."""
    default = "1-compute@developer.gserviceaccount.com"
    rare = {**GIVEN, "act_as": [], "job_vms": [default]}
    words = terraform.must("plan", "-input=false", "-refresh=false", given=rare)
    assert "act_as is empty" in words
    assert "an editor in many projects" in " ".join(words.replace("│", "").split())
    assert "Warning" not in terraform.must("plan", "-input=false", "-refresh=false")


def test_without_job_vms_nobody_else_gets_into_the_bucket(bare):
    """Accounts of VMs are named, never guessed."""
    grants = [one for one in bare if one["type"] == "google_storage_bucket_iam_member"]
    assert {one["name"] for one in grants} == {"reads", "writes"}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_reads_its_own_secrets_only(made, name):
    """And gets those of which a version is named, at that version."""
    secrets = ROWS[name].get("secrets", [])
    readable = of(made.get("secret_manager_secret_iam_member", []), member=member(name))
    ids = {one["secret_id"].split("/")[0] for one in made.get("secret_manager_secret", [])}
    assert len(readable) == len(secrets)
    assert {one["role"] for one in readable} <= {"roles/secretmanager.secretAccessor"}
    (function,) = of(made["cloudfunctions2_function"], name=deployed(name))
    got = function["service_config"][0]["secret_environment_variables"]
    wanted = [one for one in secrets if one in GIVEN["secret_versions"]]
    assert {(one["key"], one["secret"], one["version"]) for one in got} == {
        (one, one.lower().replace("_", "-"), GIVEN["secret_versions"][one]) for one in wanted
    }
    assert {one["secret"] for one in got} <= ids


@pytest.mark.parametrize("name", NAMES)
def test_all_that_wakes_a_function_is_there(made, name):
    """Its tick, its part of the bucket and of the audit log end in its topic; each may be published to."""
    row, topic = ROWS[name], f"spotwarden-{deployed(name)}"
    path = f"projects/a-project/topics/{topic}"
    ticks = of(made["cloud_scheduler_job"], name=topic)
    assert [one["schedule"] for one in ticks] == ([row["schedule"]] if row.get("schedule") else [])
    for one in ticks:
        assert one["pubsub_target"] == [
            {"topic_name": path, "attributes": {"spotwarden-tick": name}, "data": NOTHING}
        ]
        assert one["time_zone"] == "Etc/UTC"
    watched = of(made["storage_notification"], topic=path)
    assert [(one["event_types"], one["object_name_prefix"]) for one in watched] == [
        ([event], f"users/{below}") for event, below in row.get("bucket_events", {}).items()
    ]
    sinks = of(made["logging_project_sink"], name=topic)
    assert [one["filter"] for one in sinks] == ([row["log_events"]] if row.get("log_events") else [])
    publishers = {one["member"] for one in of(made["pubsub_topic_iam_member"], topic=topic)}
    assert {one["writer_identity"] for one in sinks} <= publishers
    assert len(publishers) == len(sinks) + bool(watched) + row.get("wakes_itself", False)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_published_reaches_its_function(made, name):
    """By a push with a token, as soon and as late as its row says, kept when it cannot be delivered."""
    row = ROWS[name]
    wakes = any(row.get(kind) for kind in ("schedule", "bucket_events", "log_events"))
    topics = [f"spotwarden-{deployed(name)}"] * wakes
    topics += [manifest()["topics"][key] for key in row.get("listens_to", ())]
    uri = f"google_cloudfunctions2_function/{deployed(name)}/service_config.uri"
    mine = [one for one in made["pubsub_subscription"] if one["push_config"] and _uri(one) == uri]
    assert sorted(one["topic"] for one in mine) == sorted(
        f"projects/a-project/topics/{one}" for one in topics
    )
    for one in mine:
        (push,), (retry,), (dead,) = one["push_config"], one["retry_policy"], one["dead_letter_policy"]
        assert push["push_endpoint"] == f"{uri}/{one['topic']}"
        assert push["oidc_token"][0]["service_account_email"].startswith("spotwarden-invoker@")
        assert one["ack_deadline_seconds"] == min(600, row["timeout_seconds"])
        assert retry["minimum_backoff"] == f"{row['retry']['minimum_seconds']:g}s"
        assert retry["maximum_backoff"] == f"{row['retry']['maximum_seconds']:g}s"
        assert dead["dead_letter_topic"] == "projects/a-project/topics/spotwarden-dead-letters"
        assert one["expiration_policy"] == [{"ttl": ""}]


def _uri(subscription):
    return subscription["push_config"][0]["oidc_token"][0]["audience"]


@pytest.fixture(scope="module")
def local():
    """What the local cloud is asked to make, by kind: name and what is said of it."""
    manifest = read_manifest(ROOT / "infra/functions.yaml")
    where = Where(project="a-project", bucket="runs", prefix="users/")
    found: dict[str, dict[str, Any]] = {}
    for function in manifest.functions:
        for call in (*wires(function, where, "x"), *listens(function, manifest, where.project, "x")):
            *_, kind, name = call.path.split("/")
            if call.method == "POST":  # to a collection: the name is in the body
                kind, name = name, call.body.get("name", call.body.get("topic", ""))
            found.setdefault(kind, {})[name.rpartition("/")[2]] = call.body
    return found


def test_the_local_cloud_has_the_same_topics_and_subscriptions(made, local):
    """By the same names, with the same retries: what is learnt there holds here."""
    shared = {*manifest()["topics"].values(), "spotwarden-dead-letters"}
    assert set(local["topics"]) == {one["name"] for one in made["pubsub_topic"]} - shared
    pushed = {one["name"]: one for one in made["pubsub_subscription"] if one["push_config"]}
    assert set(local["subscriptions"]) == set(pushed)
    for name, body in local["subscriptions"].items():
        (retry,) = pushed[name]["retry_policy"]
        assert body["topic"] == pushed[name]["topic"]
        assert body["retryPolicy"] == {
            "minimumBackoff": retry["minimum_backoff"],
            "maximumBackoff": retry["maximum_backoff"],
        }


def test_the_local_cloud_is_woken_alike(made, local):
    """By the same part of the bucket and of the audit log, and by the same ticks."""
    assert {name: body["object_name_prefix"] for name, body in local["notificationConfigs"].items()} == {
        one["topic"].rpartition("/")[2]: one["object_name_prefix"] for one in made["storage_notification"]
    }
    assert {name: body["filter"] for name, body in local["sinks"].items()} == {
        one["name"]: one["filter"] for one in made["logging_project_sink"]
    }
    ticks = {one["name"]: one for one in made["cloud_scheduler_job"]}
    assert set(local["jobs"]) == set(ticks)
    for name, body in local["jobs"].items():
        (target,) = ticks[name]["pubsub_target"]
        assert (body["schedule"], body["timeZone"]) == (ticks[name]["schedule"], ticks[name]["time_zone"])
        assert body["pubsubTarget"] == {
            "topicName": target["topic_name"],
            "data": target["data"],
            "attributes": target["attributes"],
        }


def test_a_dead_letter_is_kept_and_can_be_moved(made):
    """Pub/Sub's agent may publish it there and acknowledge it here, or nothing is ever moved."""
    (kept,) = [one for one in made["pubsub_subscription"] if not one["push_config"]]
    assert (kept["name"], kept["message_retention_duration"]) == ("spotwarden-dead-letters", "2678400s")
    agent = "serviceAccount:service-123456789012@gcp-sa-pubsub.iam.gserviceaccount.com"
    assert of(made["pubsub_topic_iam_member"], topic="spotwarden-dead-letters", member=agent)
    pushed = {one["name"] for one in made["pubsub_subscription"] if one["push_config"]}
    moved = of(made["pubsub_subscription_iam_member"], role="roles/pubsub.subscriber", member=agent)
    assert {one["subscription"] for one in moved} == pushed
    assert of(made["service_account_iam_member"], role="roles/iam.serviceAccountTokenCreator", member=agent)


def condition(made, who, what):
    """The condition of a grant on the bucket."""
    roles = [one for one in of(made["storage_bucket_iam_member"], member=who) if one["role"].endswith(what)]
    (grant,) = roles
    return grant["condition"][0]["expression"] if grant["condition"] else ""


WRITTEN_BY_VMS = {
    "MarkerName",
    "NodeHeartbeat",
    "Heartbeat",
    "MetricsFile",
    "LogFile",
    "StatusCode",
    "Output",
}
NEVER_BY_VMS = [
    "users/a-job/metadata/files/output/x",
    "users/a-job/metadata/files/metadata/status-code",
    "users/a-job/metadata/files/status-code",
    "users/a-job/metadata/files/heartbeat/a",
    "users/a-job/metadata/create-instance.sh/output/x",
    "users/spotwarden/output/x",
    "users/spotwarden/metadata/status-code",
    "users/a-job/status-code",
    "users/top-level",
    "users//output/x",
    "users/",
    "elsewhere/a-job/output/x",
    "a-job/output/x",
]


@pytest.mark.parametrize("kind", OBJECTS)
def test_a_job_vm_writes_what_tells_of_it_and_nothing_else(made, kind):
    """Of all objects of the layout: markers, heartbeats, measurements, logs, the status and the output."""
    expression = condition(made, f"serviceAccount:{VM}", "_vm_writes")
    assert allows(expression, name=BUCKET + OBJECTS[kind]) is (kind in WRITTEN_BY_VMS)


@pytest.mark.parametrize("name", NEVER_BY_VMS)
def test_a_job_vm_cannot_write_round_the_corner(made, name):
    """What looks like output or a status is none when it is a file of a create script, or ours."""
    assert not allows(condition(made, f"serviceAccount:{VM}", "_vm_writes"), name=BUCKET + name)


@pytest.mark.parametrize("kind", OBJECTS)
def test_a_job_vm_reads_what_is_not_ours(made, kind):
    """Code, files, output; nothing below spotwarden/, where people's addresses and answers are."""
    expression = condition(made, f"serviceAccount:{VM}", "_vm_reads")
    assert allows(expression, name=BUCKET + OBJECTS[kind]) is not OBJECTS[kind].startswith(
        "users/spotwarden/"
    )


@pytest.mark.parametrize(
    ("listed", "may"),
    [
        ("users/a-job/output/", True),
        ("users/a-job", True),
        ("users/", False),
        ("", False),
        ("users/spotwarden/", False),
        ("users/spotwarden/undelivered/mail/", False),
        ("others/", False),
        (None, True),
    ],
)
def test_a_job_vm_lists_jobs_and_not_what_is_ours(made, listed, may):
    """Nor everything at once, for ours would be among it. What is no list asks for a missing object."""
    expression = condition(made, f"serviceAccount:{VM}", "_vm_reads")
    assert allows(expression, name="projects/_/buckets/runs", listed=listed) is may


@pytest.mark.parametrize("name", NAMES)
def test_a_function_writes_where_its_row_says(made, name):
    """What is ours, and of a job only what it keeps there; never a script, its files, code or output."""
    expression = condition(made, member(name), "_writes")
    patterns = ROWS[name].get("bucket_writes", ["spotwarden/"])
    for kind, named in OBJECTS.items():
        fits = any(_fits(pattern, named.removeprefix("users/")) for pattern in patterns)
        assert allows(expression, name=BUCKET + named) is fits, (kind, named)
    kept = {"CreateScript", "ResolvedScript", "ScriptFile", "JobFileName", "Code", "Output", "Heartbeat"}
    kept |= {"StagedFile", "NodeHeartbeat"}
    assert not any(allows(expression, name=BUCKET + OBJECTS[kind]) for kind in kept)


def _fits(pattern, name):
    """The pattern as functions.yaml describes it."""
    wild = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(pattern))
    return bool(re.fullmatch(wild + (".*" if pattern.endswith("/") else ""), name))


def test_the_layout_and_the_conditions_mean_the_same_folders(made):
    """Where markers and our own objects are is said in the layout; the conditions follow it."""
    layout = Layout(prefix="users/")
    assert layout.markers() == f"users/{MARKERS}/"
    assert allows(condition(made, f"serviceAccount:{VM}", "_vm_writes"), name=BUCKET + layout.markers() + "n")
    assert not allows(
        condition(made, f"serviceAccount:{VM}", "_vm_reads"), name=BUCKET + layout.open_jobs() + "x.json"
    )


def test_no_condition_is_longer_than_iam_takes(made):
    """Twelve logical operators at most (Google: "Quotas and limits" of IAM)."""
    for one in made["storage_bucket_iam_member"]:
        for said in one["condition"]:
            assert len(LOGICAL.findall(said["expression"])) <= 12, said["title"]


def silence(name):
    """How many minutes without a tick are too many: ten, or three ticks where those are further apart."""
    match = re.match(r"\*/(\d+) ", ROWS[name]["schedule"])
    return max(10, 3 * (int(match[1]) if match else 1))


@pytest.mark.parametrize("name", TICKED)
def test_a_function_that_is_not_ticked_is_told_of(made, name):
    """By what it took, not by what was sent; whether Monitoring then has zeros or nothing."""
    display_name = f"Spotwarden: no tick for {silence(name)} minutes"
    (alert,) = of(made["monitoring_alert_policy"], display_name=display_name)
    (few,) = alert["conditions"][0]["condition_threshold"]
    assert few["aggregations"][0]["alignment_period"] == f"{60 * silence(name)}s"
    assert (few["comparison"], few["threshold_value"]) == ("COMPARISON_LT", 1)
    assert few["evaluation_missing_data"] == "EVALUATION_MISSING_DATA_ACTIVE"
    assert few["duration"] != "0s"
    assert f'"spotwarden-{deployed(name)}"' in few["filter"]
    assert 'response_class = "ack"' in few["filter"]


def test_ops_are_told_of_everything_that_must_not_be_missed(made):
    """Failing, dead letters, waiting, blast radius, quarantine, errors, too many calls: each by mail."""
    (channel,) = made["monitoring_notification_channel"]
    assert (channel["type"], channel["labels"]) == ("email", {"email_address": "ops@example.com"})
    alerts = made["monitoring_alert_policy"]
    assert all(one["notification_channels"] == [channel["id"]] for one in alerts)
    words = " ".join(one["display_name"] for one in alerts)
    for what in (
        "fails (woken)",
        "dead letters",
        "messages wait",
        "blast radius",
        "quarantine",
        "an error",
        "API calls",
    ):
        assert what in words
    assert len(alerts) == 7 + len({silence(name) for name in TICKED}) + bool(PUBLIC)


def test_an_alert_by_a_log_line_has_one_condition_and_a_limit(made):
    """Monitoring takes no other (Google: "Configure log-based alerting policies")."""
    for alert in made["monitoring_alert_policy"]:
        if any(one["condition_matched_log"] for one in alert["conditions"]):
            assert len(alert["conditions"]) == 1
            assert alert["alert_strategy"][0]["notification_rate_limit"]


def test_the_dashboard_shows_metrics_that_are_made(made):
    """A chart of our own names a metric that exists."""
    (board,) = made["monitoring_dashboard"]
    shown = set(re.findall(r"user/(spotwarden/\w+)", board["dashboard_json"]))
    assert shown <= {one["name"] for one in made["logging_metric"]}
    tiles = json.loads(board["dashboard_json"])["mosaicLayout"]["tiles"]
    assert len({(one.get("xPos"), one.get("yPos")) for one in tiles}) == len(tiles)
    assert all(one.get("xPos", 0) + one["width"] <= 48 for one in tiles)


def test_what_monitoring_leaves_out_is_not_said(made):
    """It gives back no place that is 0, and the provider of this version takes that for a difference."""
    (board,) = made["monitoring_dashboard"]
    tiles = json.loads(board["dashboard_json"])["mosaicLayout"]["tiles"]
    assert not [one for one in tiles if 0 in (one.get("xPos"), one.get("yPos"))]


def test_a_budget_is_made_only_for_a_billing_account(made, bare):
    """Not everybody who deploys may see it."""
    assert len(made["billing_budget"]) == 1
    assert not [one for one in bare if "billing" in json.dumps(one["values"])]


def test_the_apis_stay_on_when_spotwarden_goes(made):
    """Something else may use them by then."""
    assert all(one["disable_on_destroy"] is False for one in made["project_service"])


def test_enforcing_changes_what_the_functions_are_told_and_nothing_else(terraform):
    """`--enforce` is a change of one variable in each function."""
    terraform.must("plan", "-input=false", "-refresh=false", "-out=plan", given={**GIVEN, "mode": "enforce"})
    plan = json.loads(terraform.must("show", "-json", "plan", given={**GIVEN, "mode": "enforce"}))
    changed = [
        one for one in plan["resource_changes"] if one["change"]["actions"] not in (["no-op"], ["read"])
    ]
    assert {one["type"] for one in changed} == {"google_cloudfunctions2_function"}
    assert len(changed) == len(NAMES)


def test_a_new_archive_deploys_its_function_and_no_other(terraform):
    """An archive is named by its checksum: what has not changed is not deployed again."""
    archive = terraform._at.parents[1] / "build/reap_vms.zip"
    before = archive.read_bytes()
    archive.write_bytes(b"new")
    try:
        terraform.must("plan", "-input=false", "-refresh=false", "-out=plan")
        plan = json.loads(terraform.must("show", "-json", "plan"))
    finally:
        archive.write_bytes(before)
    changed = {
        one["address"]
        for one in plan["resource_changes"]
        if one["change"]["actions"] not in (["no-op"], ["read"])
    }
    assert changed == {
        'google_storage_bucket_object.archive["reap_vms"]',
        'module.woken["reap_vms"].google_cloudfunctions2_function.function',
    }


def test_the_places_of_secrets_can_be_made_first(terraform):
    """Their versions must be there before a function that names one: a first deployment makes them alone."""
    terraform.must(
        "plan", "-input=false", "-out=plan", "-state=none", "-target=google_secret_manager_secret.secret"
    )
    plan = json.loads(terraform.must("show", "-json", "plan"))
    made_first = {one["type"] for one in plan["resource_changes"] if one["change"]["actions"] == ["create"]}
    assert made_first == {"google_project_service", "google_secret_manager_secret"}


def test_what_is_destroyed_was_made_here(terraform, made):
    """Everything that was made goes, and the jobs' bucket was not."""
    terraform.must("plan", "-destroy", "-input=false", "-refresh=false", "-out=plan")
    plan = json.loads(terraform.must("show", "-json", "plan"))
    gone = [one for one in plan["resource_changes"] if one["change"]["actions"] == ["delete"]]
    assert len(gone) == sum(len(found) for found in made.values())
    buckets = [one["change"]["before"]["name"] for one in gone if one["type"] == "google_storage_bucket"]
    assert buckets == ["a-project-spotwarden-staging"]


def test_what_cannot_be_meant_is_refused_before_anything_is_done(terraform):
    """With words that say what to write, for all of it at once."""
    wrong = {
        "bucket": "gs://runs",
        "prefix": "users",
        "mode": "act",
        "region": "us-central1-a",
        "project": "P",
        "alert_email": "ops",
        "secret_versions": {"SPOTWARDEN_SMTP": "latest"},
    }
    said = _refusal(terraform, wrong)
    for words in (
        "without gs://",
        "ends in /",
        "observe or enforce",
        "without a zone",
        "6 to 30",
        "one mail address",
        "A version is a number",
    ):
        assert words in said
    assert "metadata or output" in _refusal(terraform, {"prefix": "a/output/"})


def _refusal(terraform, said):
    done = terraform.run("plan", "-input=false", "-refresh=false", given={**GIVEN, **said})
    assert done.returncode != 0
    return " ".join(done.stderr.replace("│", "").split())
