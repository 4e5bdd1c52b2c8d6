"""Bulk requests: many instances, or at least so many of them, from one request."""

from localcloud.compute.bulk.plan import Plan, read_plan
from localcloud.compute.bulk.run import Bulk

__all__ = ["Bulk", "Plan", "read_plan"]
