"""Opens the cloud. Nothing of Google's is imported or asked before the first call that needs it."""

from functools import partial

from spotwarden.gcp.endpoint import checked_endpoint
from spotwarden.gcp.first_use import calls, clock_ahead, on_first_use, open_now
from spotwarden.ports import Cloud, Compute, Metrics, NoTopic, Store, Topic


def connect(
    *,
    project: str,
    bucket: str,
    topic: str,
    compute_endpoint: str = "",
    monitoring_endpoint: str = "",
    pubsub_endpoint: str = "",
    wakeups: str = "",
) -> Cloud:
    """The cloud of one project: its bucket, Compute Engine, metrics and the topic that notices go to.

    `wakeups` is the topic whose messages wake the function, "" for none.
    Storage follows Google's own `STORAGE_EMULATOR_HOST`; the endpoints are URLs, "" for Google's. Plain http
    on loopback is spoken to without credentials.

    Raises:
        ValueError: the endpoint would take a token over the net in the clear.
    """
    endpoint = checked_endpoint(compute_endpoint)
    metrics_endpoint = checked_endpoint(monitoring_endpoint) if monitoring_endpoint else ""
    named = partial(_topic, project, checked_endpoint(pubsub_endpoint) if pubsub_endpoint else "")

    def store() -> Store:
        from spotwarden.gcp.storage import CloudStorage

        return CloudStorage(bucket=bucket)

    def compute() -> Compute:
        from spotwarden.gcp.compute import ComputeEngine

        return ComputeEngine(project=project, endpoint=endpoint)

    def metrics() -> Metrics:
        from spotwarden.gcp.monitoring import CloudMonitoring

        return CloudMonitoring(project=project, endpoint=metrics_endpoint)

    bucket_door, metrics_door = on_first_use(store), on_first_use(metrics)
    return Cloud(
        store=bucket_door,
        compute=on_first_use(compute),
        notices=on_first_use(partial(named, topic)),
        metrics=metrics_door,
        wakeups=on_first_use(partial(named, wakeups)) if wakeups else NoTopic(),
        calls=calls,
        clock_ahead=clock_ahead,
        open_ahead=partial(open_now, bucket_door, metrics_door),
    )


def _topic(project: str, endpoint: str, name: str) -> Topic:
    from spotwarden.gcp.pubsub import CloudTopic

    return CloudTopic(project=project, topic=name, endpoint=endpoint)
