"""Google's own clients with `google.auth.default()`, and no setting but the environment of a local cloud."""

from tests.clients.googleapis import google_apis
from tests.clients.installing import venv
from tests.clients.lane import asked, play
from tests.clients.outcomes import differences, expected, of_lines
from tests.clients.programs import OPERATION

pytestmark = asked

PROGRAM = f"""{OPERATION}
import os, time
import google.auth, google.auth.transport.requests, grpc
from google.api_core.exceptions import Conflict, NotFound
from google.cloud import compute_v1, monitoring_v3
from google.cloud import logging as cloud_logging
from google.cloud.monitoring_v3.services.metric_service.transports import MetricServiceGrpcTransport

PROJECT, ZONE = "demo-project", "us-central1-a"
PLACE = dict(project=PROJECT, zone=ZONE)
instances = compute_v1.InstancesClient()
log = cloud_logging.Client()
plain = grpc.insecure_channel(os.environ["SPOTWARDEN_MONITORING_ENDPOINT"].removeprefix("http://"))
metrics = monitoring_v3.MetricServiceClient(transport=MetricServiceGrpcTransport(channel=plain))

def vm(name="one", **fields):
    disk = compute_v1.AttachedDisk(boot=True, auto_delete=True, initialize_params=dict(
        source_image="projects/debian-cloud/global/images/family/debian-12",
    ))
    return compute_v1.Instance(
        name=name, machine_type=f"zones/{{ZONE}}/machineTypes/e2-small", disks=[disk],
        network_interfaces=[compute_v1.NetworkInterface(network="global/networks/default")], **fields,
    )

@operation
def default_credentials_know_the_project():
    credentials, project = google.auth.default()
    credentials.refresh(google.auth.transport.requests.Request())
    assert project == PROJECT and credentials.valid and "@" in credentials.service_account_email

@operation
def the_result_of_an_insert():
    asked = instances.insert(instance_resource=vm(), **PLACE)
    asked.result(timeout=60)
    assert asked.done() and not asked.error_code
    assert instances.get(instance="one", **PLACE).status == "RUNNING"

@operation
def the_result_of_what_fails():
    try:
        instances.insert(instance_resource=vm(), **PLACE)
    except Conflict:
        return
    raise AssertionError("there are two")

@operation
def the_result_of_a_regional_and_of_a_global_operation():
    address = dict(project=PROJECT, region="us-central1")
    addresses = compute_v1.AddressesClient()
    addresses.insert(address_resource=compute_v1.Address(name="fixed"), **address).result(timeout=60)
    assert [found.name for found in addresses.list(**address)] == ["fixed"]
    addresses.delete(address="fixed", **address).result(timeout=60)
    networks = compute_v1.NetworksClient()
    given = compute_v1.Network(name="own", auto_create_subnetworks=False)
    networks.insert(project=PROJECT, network_resource=given).result(timeout=60)
    networks.delete(project=PROJECT, network="own").result(timeout=60)

@operation
def lists_over_all_zones():
    found = [item.name for _, part in instances.aggregated_list(project=PROJECT) for item in part.instances]
    assert found == ["one"]

@operation
def entries_are_written_and_listed():
    log.logger("train").log_struct(dict(step=17), severity="WARNING")
    log.logger("train").log_text("done")
    found = list(log.list_entries(filter_="logName:train severity>=WARNING"))
    assert [entry.payload for entry in found] == [dict(step=17)]

@operation
def sinks():
    topic = f"pubsub.googleapis.com/projects/{{PROJECT}}/topics/t"
    sink = log.sink("all", filter_="severity>=ERROR", destination=topic)
    sink.create()
    assert [found.name for found in log.list_sinks()] == ["all"]
    sink.delete()

@operation
def a_metric_is_written_and_listed():
    now = int(time.time())
    point = monitoring_v3.Point(
        interval=dict(end_time=dict(seconds=now)), value=dict(double_value=0.5),
    )
    series = monitoring_v3.TimeSeries(
        metric=dict(type="custom.googleapis.com/loss"), points=[point],
        resource=dict(type="global", labels=dict(project_id=PROJECT)),
    )
    metrics.create_time_series(name=f"projects/{{PROJECT}}", time_series=[series])
    found = metrics.list_time_series(
        name=f"projects/{{PROJECT}}", filter='metric.type = "custom.googleapis.com/loss"', view="FULL",
        interval=dict(start_time=dict(seconds=now - 60), end_time=dict(seconds=now + 60)),
    )
    assert [item.points[0].value.double_value for item in found] == [0.5]

@operation
def the_result_of_a_delete():
    instances.delete(instance="one", **PLACE).result(timeout=60)
    try:
        instances.get(instance="one", **PLACE)
    except NotFound:
        return
    raise AssertionError("it is there")
"""


def test_googles_clients_do_what_is_expected(cloud, home):
    """Compute and Logging by REST, at Google's own addresses; Monitoring, which has no REST, by a channel."""
    wanted = expected("google_cloud")
    python = venv("google-cloud", wanted.install) / "python"
    with google_apis(cloud["SPOTWARDEN_LOCAL_URL"], home) as apis:
        rest = {**apis.environment(), "GOOGLE_CLOUD_DISABLE_GRPC": "true"}
        done = play([python, "-c", PROGRAM], cloud, home, more=rest)
    assert differences(wanted, of_lines(done.stdout)) == [], done.stderr
    assert apis.undone() == []
