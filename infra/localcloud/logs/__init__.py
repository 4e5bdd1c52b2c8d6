"""Logging on loopback: entries, queries over them, and sinks that route them to Pub/Sub."""

from localcloud.logs.service import LogService

__all__ = ["LogService"]
