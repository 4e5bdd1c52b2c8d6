"""How long things take, and the means to let that time pass."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

import msgspec

from localcloud.errors import ApiError


def _ms(milliseconds: int) -> timedelta:
    return timedelta(milliseconds=milliseconds)


class Timings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long each step takes beyond the work itself. Google Cloud takes 10 to 100 times as long.

    `accepting`: an operation is PENDING. `changing`: labels, metadata, disks and the like.
    `provisioning`, `staging` and `suspending`: the statuses of these names. `stopping`: from the last
    process's end to TERMINATED. `deleting`: from there until the name is free. `restarting`: from a host
    error to the automatic restart. `event`: until a system event shows in the operation list and the audit
    log. `waiting`: how often a Flex-start VM that is PENDING looks for room. `regrouping`: until a managed
    instance group does something about a VM that it has lost, or could not make.
    `preemption_notice`: at most so long a `preemptionNoticeDuration` is, whatever the instance asks for.
    `stop_grace` and `preemption_grace`: what a shutdown script has ("Run shutdown scripts": 90 and 30 s).
    """

    accepting: timedelta = _ms(20)
    changing: timedelta = _ms(20)
    provisioning: timedelta = _ms(100)
    staging: timedelta = _ms(100)
    suspending: timedelta = _ms(50)
    stopping: timedelta = _ms(50)
    deleting: timedelta = _ms(50)
    restarting: timedelta = _ms(200)
    regrouping: timedelta = _ms(200)
    waiting: timedelta = _ms(500)
    event: timedelta = timedelta(0)
    preemption_notice: timedelta = timedelta(seconds=120)
    stop_grace: timedelta = timedelta(seconds=90)
    preemption_grace: timedelta = timedelta(seconds=30)

    def with_seconds(self, changes: Mapping[str, Any]) -> Self:
        """These timings with some changed; values are seconds.

        Raises:
            ApiError: 400 when a name is unknown or a value is no time.
        """
        known = self.seconds()
        for name, value in changes.items():
            if name not in known:
                raise ApiError(400, "invalid", f"There is no timing {name!r}; there are {', '.join(known)}.")
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 10**6:
                raise ApiError(
                    400, "invalid", f"The timing {name!r} is {value!r}; give seconds from 0 to 10^6."
                )
        given = {name: timedelta(seconds=value) for name, value in changes.items()}
        return msgspec.structs.replace(self, **given)

    def seconds(self) -> dict[str, float]:
        """All of them, in seconds."""
        return {name: getattr(self, name).total_seconds() for name in self.__struct_fields__}


async def _sleep(duration: timedelta) -> None:
    await asyncio.sleep(duration.total_seconds())


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Lets time pass. `elapsed` counts seconds and never goes back, whatever the clock is set to."""

    pause: Callable[[timedelta], Awaitable[None]] = _sleep
    elapsed: Callable[[], float] = time.monotonic
