"""When a job with a deadline takes on-demand VMs, and when it goes back to spot; hours from now.

Recovery's own moments (`placement.spot_until`, `placement.move_until`, `deadline_line.waits_until`) all come
sooner the more work is left, so each is asked for once, and moved by the work that a played run has left.
"""

import math
from datetime import datetime, timedelta

import msgspec

from spotwarden.model.limits import PlacementLimits
from spotwarden.recovery.forecast.course import HOUR, Course
from spotwarden.recovery.places.deadline_line import BEHIND, waits_until
from spotwarden.recovery.places.placement import move_until, spot_until

ROUND = 0.1
"""Hours in which every place has been asked once: a job that is behind takes the spot VM that one has."""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """What a job has to hold to that may come back to spot.

    It waits no longer once it is behind: at `due` with none of the work left, and `pace` hours sooner for
    each hour of it. It goes back up to `back`, less the work left. No place is asked within `quiet` of its
    refusal.
    """

    due: float
    pace: float
    back: float
    quiet: float


class DeadlinePlan(msgspec.Struct, frozen=True, kw_only=True):
    """A job takes on-demand VMs at `last`, less the work left, or before that by its line, if it has one."""

    last: float
    line: Line | None = None

    def turn(self, left: float, since: float) -> float:
        """When a job takes them that has found no spot VM since then."""
        last = max(since, self.last - left)
        if self.line is None:
            return last
        return min(last, max(since + ROUND, self.line.due - self.line.pace * left))

    def back(self, left: float, begun: float, ready: float) -> float:
        """When a job first asks for spot VMs again that took others at `begun`, and works from `ready` on.

        Never, where it would no longer be moved.
        """
        if self.line is None or ready >= self.line.back - left:
            return math.inf
        return max(begun + self.line.quiet, ready)


def plan_of(job: Course, limits: PlacementLimits, now: datetime) -> DeadlinePlan | None:
    """That of a job; None for one without a deadline."""
    if job.deadline is None:
        return None
    none = timedelta(0)
    last = (spot_until(none, job.deadline, limits) - now) / HOUR
    if job.began is None or not job.returns or not limits.move or limits.ladder or job.whole <= 0.0:
        return DeadlinePlan(last=last)
    whole = job.whole * HOUR
    pace = max((job.deadline - job.began) / whole, 0.0)
    begun = waits_until(
        whole=whole, left=whole, began=job.began, deadline=job.deadline, late=BEHIND * limits.restart_cost
    )
    line = Line(
        due=(begun - now) / HOUR + pace * job.whole,
        pace=pace,
        back=(move_until(none, job.deadline, limits) - now) / HOUR,
        quiet=limits.fragile / HOUR,
    )
    return DeadlinePlan(last=last, line=line)
