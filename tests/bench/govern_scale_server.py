"""The cloud that `govern_scale.py` measures against: the local cloud's own services, full of VMs with GPUs.

    python tests/bench/govern_scale_server.py VMS IDLE FOLDER

Both sides speak to this one process. Lists and metrics are answered by the local cloud once and then given
again as they were, so that what is measured is the client and not Python on the other side; everything that
changes something is done by the local cloud each time. `POST /bench/reset` gives the calls since it was last
asked, and the seconds from the first stop to the last, `POST /bench/delays` sets milliseconds by service,
`POST /bench/jobs` gives the ids of each job's VMs by name.
"""

import asyncio
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl

import grpc
from google.cloud.monitoring_v3 import Aggregation, ListTimeSeriesResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localcloud.clock import Clock
from localcloud.compute import ComputeService, Timings
from localcloud.compute.fleet import Fleet
from localcloud.faults import Faults
from localcloud.faults.rule import service_of
from localcloud.grpc_server import GrpcServer
from localcloud.http import Listener, build_app
from localcloud.identity import Identity
from localcloud.machines.no_machines import NoMachines
from localcloud.monitoring import MonitoringService
from localcloud.outbound import Outbound
from localcloud.ports import Point
from localcloud.pubsub import PubSubService
from localcloud.storage import StorageService

PROJECT = "project"
GPU = "agent.googleapis.com/gpu/utilization"
MINUTE = timedelta(minutes=1)
HISTORY = 70
JOB = 8
"""VMs of one job, which all idle or all work."""
ZONES = ("us-central1-a", "us-central1-b", "us-central1-c", "europe-west4-a")
LARGEST = 20_000
"""With more VMs than this the metrics are given in the form of Monitoring's answers, without its work."""
PAGE = type(ListTimeSeriesResponse.pb(ListTimeSeriesResponse()))
NAMED = re.compile(r'"(\d+)"')
COUNT = Aggregation.Reducer.REDUCE_COUNT
KEPT = ("/aggregated/instances", "/timeSeries")
TIMES = ("interval.startTime", "interval.endTime", "interval_startTime", "interval_endTime")


class Kept:
    """Counts calls, lets them wait, and gives answers to the same question again."""

    def __init__(self, app: ASGIApp, series: "Series | None") -> None:
        self._app = app
        self._series = series
        self._answers: dict[str, list[Message]] = {}
        self.jobs: dict[str, dict[str, str]] = {}
        self.calls: Counter[str] = Counter()
        self.stops: list[float] = []
        self.delays: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        if scope["type"] != "http" or scope["path"].startswith(("/local/", "/token")):
            await self._app(scope, receive, send)
            return
        if scope["path"].startswith("/bench/"):
            await self._bench(scope["path"], await _body(receive), send)
            return
        service = service_of(scope["path"])
        self.calls[f"{service} {scope['method']}"] += 1
        if scope["path"].endswith("/stop"):
            self.stops.append(time.perf_counter())
        if delay := self.delays.get(service, 0.0):
            await asyncio.sleep(delay / 1000)
        if not scope["path"].endswith(KEPT):
            await self._app(scope, receive, send)
            return
        await self._again(scope, await _body(receive), send)

    async def _again(self, scope: Scope, body: bytes, send: Send) -> None:
        asked = scope["query_string"].decode() + "&" + body.decode()
        key = scope["path"] + repr([one for one in parse_qsl(asked) if one[0] not in TIMES])
        if key not in self._answers:
            said: list[Message] = []

            async def keep(message: Message) -> None:
                said.append(message)

            if self._series and scope["path"].endswith("/timeSeries"):
                said += _answer(self._series.page(dict(parse_qsl(asked))))
            else:
                await self._app(scope, _given(body), keep)
            self._answers[key] = said
        for message in self._answers[key]:
            await send(message)

    async def _bench(self, path: str, body: bytes, send: Send) -> None:
        if path == "/bench/delays":
            self.delays = json.loads(body)
        spent = self.stops[-1] - self.stops[0] if self.stops else 0.0
        said = json.dumps(
            self.jobs if path == "/bench/jobs" else {"calls": self.calls, "stops": spent}
        ).encode()
        if path == "/bench/reset":
            self.calls.clear()
            self.stops.clear()
        for message in _answer(said):
            await send(message)


class KeptCalls(grpc.GenericRpcHandler):
    """The same for gRPC: a list of Monitoring's is answered once, and given again as it was."""

    def __init__(self, inner: grpc.GenericRpcHandler, series: "Series | None", kept: Kept) -> None:
        self._inner = inner
        self._series = series
        self._kept = kept
        self._answers: dict[bytes, bytes] = {}

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        """The handler of a call."""
        handler: Any = self._inner.service(details)
        if handler is None or not details.method.endswith("/ListTimeSeries"):
            return handler

        async def again(asked: bytes, context: Any) -> bytes:
            self._kept.calls["monitoring ListTimeSeries"] += 1
            if delay := self._kept.delays.get("monitoring", 0.0):
                await asyncio.sleep(delay / 1000)
            request = handler.request_deserializer(asked)
            request.ClearField("interval")
            key = request.SerializeToString(deterministic=True)
            if key not in self._answers:
                whole = handler.request_deserializer(asked)
                if self._series:
                    self._answers[key] = self._series.answer(whole)
                else:
                    self._answers[key] = handler.response_serializer(
                        await handler.unary_unary(whole, context)
                    )
            return self._answers[key]

        return grpc.unary_unary_rpc_method_handler(again)


class Series:
    """What Monitoring says of a fleet so large that its local stand-in would take minutes to work it out.

    Only for questions as `flag_idle_gpus` asks them; the form, the fields and the pages are Google's.
    """

    def __init__(self) -> None:
        self.vms: list[tuple[str, bool]] = []

    def _asked(self, text: str) -> list[tuple[str, bool]]:
        """The VMs that a filter names, or all."""
        if "one_of(" not in text:
            return self.vms
        named = set(NAMED.findall(text))
        return [vm for vm in self.vms if vm[0] in named]

    def page(self, query: dict[str, str]) -> bytes:
        """One page of an answer: of each VM its buckets, the newest first."""
        if GPU not in query["filter"]:
            return b"{}"
        end = datetime.fromisoformat(query["interval.endTime"])
        step = timedelta(seconds=int(query["aggregation.alignmentPeriod"].removesuffix("s")))
        count = (end - datetime.fromisoformat(query["interval.startTime"])) // step
        ends = [(end - index * step).isoformat().replace("+00:00", "Z") for index in range(count)]
        first, most = int(query.get("pageToken", 0)), int(query["pageSize"]) // count
        vms = self._asked(query["filter"])
        said: dict[str, Any] = {
            "timeSeries": [
                {
                    "resource": {"labels": {"instance_id": instance_id, "project_id": PROJECT}},
                    "points": [
                        {"interval": {"endTime": at}, "value": _value(query, quiet=quiet)} for at in ends
                    ],
                }
                for instance_id, quiet in vms[first : first + most]
            ]
        }
        if first + most < len(vms):
            said["nextPageToken"] = str(first + most)
        return json.dumps(said).encode()

    def answer(self, request: Any) -> bytes:
        """The same page as a message."""
        page = PAGE()
        if GPU in request.filter:
            first, end = int(request.page_token or 0), request.interval.end_time.seconds
            step = request.aggregation.alignment_period.seconds
            ends = range(end, request.interval.start_time.seconds, -step)
            reducer = request.secondary_aggregation.cross_series_reducer
            most = request.page_size // len(ends)
            vms = self._asked(request.filter)
            for instance_id, quiet in vms[first : first + most]:
                series = page.time_series.add(value_type=2 if reducer else 3)
                series.resource.labels.update(instance_id=instance_id, project_id=PROJECT)
                number = (1 if reducer == COUNT else 10) if reducer else (1.5 if quiet else 78.0)
                for at in ends:
                    point = series.points.add()
                    point.interval.end_time.seconds = at
                    setattr(point.value, "int64_value" if reducer else "double_value", number)
            if first + most < len(vms):
                page.next_page_token = str(first + most)
        whole: bytes = page.SerializeToString()
        return whole


def _value(query: dict[str, str], *, quiet: bool) -> dict[str, Any]:
    reducer = query.get("secondaryAggregation.crossSeriesReducer", "")
    if not reducer:
        return {"doubleValue": 1.5 if quiet else 78.0}
    return {"int64Value": "1" if reducer == "REDUCE_COUNT" else "10"}


def _answer(body: bytes) -> list[Message]:
    headers = [(b"content-type", b"application/json")]
    return [
        {"type": "http.response.start", "status": 200, "headers": headers},
        {"type": "http.response.body", "body": body},
    ]


async def _body(receive: Receive) -> bytes:
    body = b""
    while True:
        message: Any = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


def _given(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def fill_fleet(compute: ComputeService, count: int, born: datetime) -> Iterator[tuple[int, str, str]]:
    """VMs with one GPU each, eight to a job, up since then; yields number, id and zone."""
    compute.knobs.create_fleet(
        Fleet(
            count=count,
            prefix="train-",
            machine_type="a2-highgpu-1g",
            zones=ZONES,
            labels={"managed-by": "spotwarden", "team": "vision"},
            metadata={"startup-script": "#!/bin/bash\n" + "echo a step of the start-up; " * 40},
        )
    )
    stamp = born.isoformat(timespec="milliseconds")
    for number, vm in enumerate(compute._site.registry):
        # In place: what lists show of a VM is this very dictionary.
        cast("dict[str, Any]", vm.resource).update(
            {
                "creationTimestamp": stamp,
                "lastStartTimestamp": stamp,
                "labels": {**vm.resource["labels"], "spotwarden-job": f"job-{number // JOB}"},
            }
        )
        yield number, str(vm.resource["id"]), vm.resource["zone"].rpartition("/")[2]


def is_quiet(number: int, idle: int) -> bool:
    """Whether the VM of this number idles."""
    return number // JOB % idle == 1


def points(number: int, instance_id: str, zone: str, now: datetime, idle: int) -> Iterator[Point]:
    """An idle VM reports each minute; of a busy one a point in each ten minutes says as much."""
    quiet = is_quiet(number, idle)
    for ago in range(HISTORY, -1, -1 if quiet else -5):
        yield Point(
            metric=GPU,
            resource="gce_instance",
            metric_labels={"gpu_number": "0", "model": "NVIDIA A100-SXM4-40GB", "uuid": f"GPU-{instance_id}"},
            resource_labels={"project_id": PROJECT, "instance_id": instance_id, "zone": zone},
            value=1.5 if quiet else 78.0,
            at=now - ago * MINUTE,
        )


async def serve(count: int, idle: int, folder: Path) -> None:
    """Fill it, say where it is, and serve until the end."""
    url, clock, outbound = [""], Clock(), Outbound()
    pubsub = PubSubService(project=PROJECT, clock=clock, post=outbound.post)
    storage = StorageService(
        project=PROJECT, folder=folder, publish=pubsub.publish, clock=clock, base_url=lambda: url[0]
    )
    monitoring = MonitoringService(project=PROJECT, clock=clock)
    compute = ComputeService(
        project=PROJECT,
        clock=clock,
        machines=NoMachines(),
        audit=lambda _entry: None,
        base_url=lambda: url[0],
        timings=Timings(),
    )
    services: tuple[Any, ...] = (storage, compute, pubsub, monitoring, Identity(project=PROJECT))
    routes = [*(route for one in services for route in one.routes()), *compute.admin_routes()]
    series = Series() if count > LARGEST else None
    app = Kept(build_app(routes, faults=Faults()), series)
    now = datetime.now(UTC).replace(microsecond=0)
    for number, instance_id, zone in fill_fleet(compute, count, now - timedelta(hours=8)):
        app.jobs.setdefault(f"job-{number // JOB}", {})[f"vm-{number}"] = instance_id
        if series:
            series.vms.append((instance_id, is_quiet(number, idle)))
            continue
        for point in points(number, instance_id, zone, now, idle):
            monitoring.measure(point)
    listener = Listener(app)
    await listener.start()
    url[0] = listener.url
    handlers = [*(KeptCalls(one, series, app) for one in monitoring.handlers()), *pubsub.handlers()]
    rpc = await GrpcServer(handlers).start()
    said = {"http": listener.url, "grpc": rpc.target, "now": now.isoformat()}
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
