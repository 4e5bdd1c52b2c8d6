"""Compute Engine of the local cloud.

`site` is what everything works on, `build` turns requests into resources, `life` moves instances from status
to status, `bulk` creates many, `api` speaks REST, `knobs` does to people what clouds do.
"""

from localcloud.compute.service import ComputeService
from localcloud.compute.timings import Pace, Timings

__all__ = ["ComputeService", "Pace", "Timings"]
