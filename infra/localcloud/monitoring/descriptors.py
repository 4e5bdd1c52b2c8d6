"""Metric and resource descriptors: those that Google defines, as far as needed here, and those users make."""

from collections.abc import Iterable, Iterator, Mapping

from google.api import label_pb2, metric_pb2, monitored_resource_pb2

from localcloud.rpc import Raw, RpcError

AGENT = "agent.googleapis.com"
COMPUTE = "compute.googleapis.com"

# (type, kind, value type, unit, labels, display name), from "Ops Agent metrics" and "Google Cloud metrics".
# The Ops Agent multiplies what the GPU library says by 100: its utilization is in percent; Compute's is not.
_GPU = ("gpu_number", "model", "uuid")
_DCGM = "workload.googleapis.com/gpu.dcgm.utilization"
_DUTY = "tpu.googleapis.com/accelerator/duty_cycle"
_LINES = "logging.googleapis.com/log_entry_count"
_METRICS = (
    (f"{AGENT}/gpu/utilization", "GAUGE", "DOUBLE", "%", _GPU, "GPU utilization"),
    (_DCGM, "GAUGE", "DOUBLE", "1", _GPU, "GPU utilization"),
    (_DUTY, "GAUGE", "DOUBLE", "%", ("accelerator_id",), "Accelerator duty cycle"),
    (_LINES, "DELTA", "INT64", "1", ("log", "severity"), "Log entries"),
    (f"{AGENT}/gpu/memory/bytes_used", "GAUGE", "DOUBLE", "By", (*_GPU, "memory_state"), "GPU memory used"),
    (f"{AGENT}/cpu/utilization", "GAUGE", "DOUBLE", "%", ("cpu_number", "cpu_state"), "CPU utilization"),
    (f"{AGENT}/memory/percent_used", "GAUGE", "DOUBLE", "%", ("state",), "Memory utilization"),
    (
        f"{COMPUTE}/instance/cpu/utilization",
        "GAUGE",
        "DOUBLE",
        "10^2.%",
        ("instance_name",),
        "CPU utilization",
    ),
    (f"{COMPUTE}/instance/uptime", "DELTA", "DOUBLE", "s{uptime}", ("instance_name",), "Uptime"),
    (f"{COMPUTE}/instance/uptime_total", "GAUGE", "INT64", "s", ("instance_name",), "Uptime Total"),
    (
        f"{COMPUTE}/instance/network/received_bytes_count",
        "DELTA",
        "INT64",
        "By",
        ("instance_name", "loadbalanced"),
        "Received bytes",
    ),
    (
        "pubsub.googleapis.com/subscription/num_undelivered_messages",
        "GAUGE",
        "INT64",
        "1",
        (),
        "Unacked messages",
    ),
    (
        "pubsub.googleapis.com/subscription/oldest_unacked_message_age",
        "GAUGE",
        "INT64",
        "s",
        (),
        "Oldest unacked message age",
    ),
)

# From "Monitored resource types".
RESOURCES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "global": ("Global", ("project_id",)),
    "gce_instance": ("VM Instance", ("project_id", "instance_id", "zone")),
    "gcs_bucket": ("GCS Bucket", ("project_id", "bucket_name", "location")),
    "generic_node": ("Generic Node", ("project_id", "location", "namespace", "node_id")),
    "generic_task": ("Generic Task", ("project_id", "location", "namespace", "job", "task_id")),
    "cloud_function": ("Cloud Function", ("project_id", "function_name", "region")),
    "cloud_run_revision": (
        "Cloud Run Revision",
        ("project_id", "service_name", "revision_name", "location", "configuration_name"),
    ),
    "tpu.googleapis.com/GceTpuWorker": (
        "GCE TPU Worker",
        ("resource_container", "location", "worker_id"),
    ),
    "pubsub_topic": ("Cloud Pub/Sub Topic", ("project_id", "topic_id")),
    "pubsub_subscription": ("Cloud Pub/Sub Subscription", ("project_id", "subscription_id")),
}
"""Display name and labels of each resource type."""

OWN_DOMAINS = ("custom.googleapis.com/", "external.googleapis.com/", "workload.googleapis.com/")
"""Where users make metrics of their own."""

WRITABLE = (*OWN_DOMAINS, f"{AGENT}/")
"""Where a client may write points; all else is written by Google Cloud itself."""


class Descriptors:
    """The metric descriptors of one project, by type."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._found = {each.type: each for each in _defined(project)}

    def get(self, metric: str) -> Raw | None:
        """The descriptor of a metric type."""
        return self._found.get(metric)

    def need(self, metric: str) -> Raw:
        """The descriptor of a metric type.

        Raises:
            RpcError: NOT_FOUND.
        """
        found = self._found.get(metric)
        if found is None:
            raise RpcError(
                "NOT_FOUND",
                f'Cannot find metric(s) that match type = "{metric}". If a metric was created recently, '
                "it could take up to 10 minutes to become available. Please try again soon.",
            )
        return found

    def all(self) -> Iterator[Raw]:
        """Every descriptor, by type."""
        for metric in sorted(self._found):
            yield self._found[metric]

    def make(self, descriptor: Raw) -> Raw:
        """Store a user's descriptor, or add labels to it.

        Raises:
            RpcError: INVALID_ARGUMENT when it cannot be, or differs from the present one in kind or type.
        """
        _check(descriptor)
        present = self._found.get(descriptor.type)
        if present is not None and (present.metric_kind, present.value_type) != (
            descriptor.metric_kind,
            descriptor.value_type,
        ):
            text = "The metric kind and value type of a metric descriptor cannot be changed."
            raise RpcError("INVALID_ARGUMENT", f"Field metricDescriptor had an invalid value: {text}")
        made = metric_pb2.MetricDescriptor()
        made.CopyFrom(descriptor)
        made.name = f"projects/{self._project}/metricDescriptors/{descriptor.type}"
        self._found[made.type] = made
        return made

    def ensure(self, metric: str, values: tuple[str, str, str], labels: Iterable[str]) -> None:
        """Make the descriptor that a first point implies, if there is none; `values`: kind, type, unit."""
        if metric not in self._found:
            self._found[metric] = _described(self._project, metric, values, labels)

    def number(self, metric: str) -> tuple[str, type[int] | type[float]]:
        """The kind, and the type of the numbers, of a GAUGE or a DELTA.

        Raises:
            RpcError: NOT_FOUND, or INVALID_ARGUMENT for a metric that is neither, or not of numbers.
        """
        found = self.need(metric)
        numbers = {found.INT64: int, found.DOUBLE: float}
        kinds = {found.GAUGE: "GAUGE", found.DELTA: "DELTA"}
        if found.metric_kind not in kinds or found.value_type not in numbers:
            raise RpcError("INVALID_ARGUMENT", f"{metric} is not a GAUGE or DELTA of numbers.")
        return kinds[found.metric_kind], numbers[found.value_type]

    def delete(self, metric: str) -> None:
        """Remove a user's descriptor.

        Raises:
            RpcError: NOT_FOUND, or PERMISSION_DENIED for one that Google defines.
        """
        self.need(metric)
        if not metric.startswith(OWN_DOMAINS):
            raise RpcError("PERMISSION_DENIED", f"The metric descriptor {metric} is not a user's and stays.")
        del self._found[metric]


def _defined(project: str) -> Iterator[Raw]:
    for metric, kind, value_type, unit, labels, display in _METRICS:
        described = _described(project, metric, (kind, value_type, unit), labels)
        described.display_name = display
        yield described


def _described(project: str, metric: str, values: tuple[str, str, str], labels: Iterable[str]) -> Raw:
    kind, value_type, unit = values
    return metric_pb2.MetricDescriptor(
        name=f"projects/{project}/metricDescriptors/{metric}",
        type=metric,
        metric_kind=kind,
        value_type=value_type,
        unit=unit,
        labels=[label_pb2.LabelDescriptor(key=key) for key in sorted(labels)],
    )


def _check(descriptor: Raw) -> None:
    domain, _, path = descriptor.type.partition("/")
    if not path or f"{domain}/" not in OWN_DOMAINS:
        raise RpcError(
            "INVALID_ARGUMENT",
            f'Field metricDescriptor.type had an invalid value of "{descriptor.type}": '
            "The metric type must be a URL-formatted string with a domain and non-empty path.",
        )
    if not descriptor.metric_kind or not descriptor.value_type:
        text = "Both metricKind and valueType must be given."
        raise RpcError("INVALID_ARGUMENT", f"Field metricDescriptor had an invalid value: {text}")


def resource_descriptors(project: str) -> Iterator[Raw]:
    """The monitored resource descriptors, by type."""
    for kind, (display, labels) in sorted(RESOURCES.items()):
        yield monitored_resource_pb2.MonitoredResourceDescriptor(
            name=f"projects/{project}/monitoredResourceDescriptors/{kind}",
            type=kind,
            display_name=display,
            labels=[label_pb2.LabelDescriptor(key=key) for key in labels],
        )
