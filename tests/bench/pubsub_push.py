"""How fast the local cloud's Pub/Sub pushes: `python tests/bench/pubsub_push.py [messages]`.

One process holds all: a real publisher over gRPC, the service, and an HTTP endpoint that answers at once.
"""

import statistics
import sys
import threading
import time
from typing import Any

import grpc
from google.pubsub_v1 import PublisherClient, SubscriberClient, types
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport
from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcTransport

from localcloud.clock import Clock
from localcloud.pubsub import PubSubService
from tests.localcloud.stand import PROJECT, Stand

TOPIC = f"projects/{PROJECT}/topics/bench"


def main(count: int) -> None:
    """Print latencies of single messages and the throughput of many."""
    stand = Stand()
    service = stand.call(PubSubService, project=PROJECT, clock=Clock(), post=stand.outbound.post)
    stand.serve([service])
    with grpc.insecure_channel(stand.grpc) as channel:
        publisher = PublisherClient(transport=PublisherGrpcTransport(channel=channel))
        subscriber = SubscriberClient(transport=SubscriberGrpcTransport(channel=channel))
        publisher.create_topic(name=TOPIC)
        push = {"push_endpoint": stand.receiver.url}
        name = f"projects/{PROJECT}/subscriptions/bench"
        subscriber.create_subscription(request={"name": name, "topic": TOPIC, "push_config": push})
        singles = sorted(latency(stand, publisher) for _ in range(min(count, 500)))
        rate = throughput(stand, publisher, count)
    stand.close()
    print("what                                     value")
    print(f"publish → push received, p50        {statistics.median(singles) * 1e3:7.2f} ms")
    print(f"publish → push received, p99        {singles[int(len(singles) * 0.99) - 1] * 1e3:7.2f} ms")
    print(f"pushes of {count} messages         {rate:7.0f} a second")


def latency(stand: Stand, publisher: PublisherClient) -> float:
    """Seconds from the call of publish to the arrival of the push."""
    seen = len(stand.receiver.heard)
    began = time.perf_counter()
    publish(publisher, 1)
    stand.receiver.wait_for(seen + 1)
    return time.perf_counter() - began


def throughput(stand: Stand, publisher: PublisherClient, count: int) -> float:
    """Pushes a second when all messages are published as fast as possible."""
    seen = len(stand.receiver.heard)
    began = time.perf_counter()
    sender = threading.Thread(target=publish_all, args=(publisher, count), daemon=True)
    sender.start()
    stand.receiver.wait_for(seen + count)
    sender.join()
    return count / (time.perf_counter() - began)


def publish_all(publisher: PublisherClient, count: int) -> None:
    """Publish in requests of a hundred."""
    for start in range(0, count, 100):
        publish(publisher, min(100, count - start))


def publish(publisher: PublisherClient, count: int) -> Any:
    """Publish so many messages in one request."""
    return publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=b"x" * 100)] * count)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
