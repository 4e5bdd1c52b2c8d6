"""Pub/Sub on loopback: topics, pull, streaming pull and push, with what can go wrong on the way."""

from localcloud.pubsub.service import PubSubService, Settings

__all__ = ["PubSubService", "Settings"]
