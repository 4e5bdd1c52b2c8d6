"""Opens the bucket and Compute Engine, for a function that neither publishes nor reads metrics.

No gRPC is installed for it then, which google-api-core would import in it wherever it is.
"""

from spotwarden.gcp.endpoint import checked_endpoint
from spotwarden.gcp.first_use import calls, clock_ahead, on_first_use
from spotwarden.ports import Cloud, Compute, Metrics, Store, Topic


def connect(*, project: str, bucket: str, compute_endpoint: str = "", **_others: str) -> Cloud:
    """As `spotwarden.gcp.connect.connect`; asking for the topic or for metrics is a `RuntimeError`."""
    endpoint = checked_endpoint(compute_endpoint)

    def store() -> Store:
        from spotwarden.gcp.storage import CloudStorage

        return CloudStorage(bucket=bucket)

    def compute() -> Compute:
        from spotwarden.gcp.compute import ComputeEngine

        return ComputeEngine(project=project, endpoint=endpoint)

    return Cloud(
        store=on_first_use(store),
        compute=on_first_use(compute),
        notices=on_first_use(_no_topic),
        metrics=on_first_use(_no_metrics),
        calls=calls,
        clock_ahead=clock_ahead,
    )


def _no_topic() -> Topic:
    raise RuntimeError("this function publishes nothing: open the cloud by spotwarden.gcp.connect")


def _no_metrics() -> Metrics:
    raise RuntimeError("this function reads no metrics: open the cloud by spotwarden.gcp.connect")
