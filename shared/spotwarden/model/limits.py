"""The limits of recovery that a team agreed on; `infra/policy.toml` says why these defaults."""

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from spotwarden.model.gcloud import NEWEST
from spotwarden.model.ladder import Rung
from spotwarden.model.placement import AvoidedPlace
from spotwarden.model.threads import Threads


class RecoveryLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All durations in seconds or ISO 8601 in the policy file.

    `max_restarts` counts ends that are the job's own, `max_preemptions` those by Compute Engine (None: no
    bound). After `treadmill_lives` attempts in a row that kept no work the owner is told, and with
    `treadmill_stops` the job is given up. Without `handover` no VM is asked for with a notice of its
    preemption, nor has a successor before it is gone. A create that is forbidden is tried again for
    `forbidden_for`. Create scripts are read as `gcloud_version` reads them.
    """

    max_restarts: int = 50
    max_preemptions: int | None = None
    lease: timedelta = timedelta(minutes=5)
    settle: timedelta = timedelta(minutes=3)
    log_delay: timedelta = timedelta(minutes=12)
    first_backoff: timedelta = timedelta(seconds=30)
    longest_backoff: timedelta = timedelta(minutes=10)
    forbidden_for: timedelta = timedelta(hours=1)
    short_life: timedelta = timedelta(minutes=5)
    short_lives: int = 2
    treadmill_lives: int = 3
    treadmill_stops: bool = False
    start_tries: int = 2
    handover: bool = True
    early_notice: timedelta = timedelta(minutes=5)
    gcloud_version: int = NEWEST


class PlacementLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How places are chosen.

    `regions` are those a job may move to besides its own, by preference; `avoid` are zones and regions that
    none is launched in; `ladder` are the kinds of VM that a job is asked for, and how long each. A place is
    not asked for `block` after a stockout, and stands behind others for `fragile`; its trouble halves every
    `half_life`. Spot has had its chance when only `deadline_restarts` times `restart_cost` are left besides
    the work. At most `moves` jobs that run are moved at a time. With `advice` Google is asked about the
    places of a machine type, once in `advice_fresh`.
    """

    move: bool = True
    regions: tuple[str, ...] = ()
    avoid: tuple[AvoidedPlace, ...] = ()
    block: timedelta = timedelta(minutes=10)
    fragile: timedelta = timedelta(hours=1)
    half_life: timedelta = timedelta(minutes=30)
    on_demand_after: int | None = None
    ladder: tuple[Rung, ...] = ()
    restart_cost: timedelta = timedelta(minutes=12)
    deadline_restarts: float = 2.5
    moves: int = 5
    offers_fresh: timedelta = timedelta(days=1)
    advice: bool = True
    advice_fresh: timedelta = timedelta(minutes=10)


class AdmissionLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a stored create script may have made. Lists are globs; an empty one allows everything.

    `images` are `project/name`, `project/family/name`, `project/snapshots/name` or, of a boot disk that is
    there already, `project/disks/name`; `networks` are names, of another project with that before it;
    `projects` are others whose things may be used, but for images.
    """

    machine_types: tuple[str, ...] = ()
    accelerators: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    service_accounts: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    most_vms: int | None = None
    most_disk_gb: int | None = None
    external_ip: bool = True


class NotifyLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How people are told.

    With `email` each notice is mailed to whom it is for; `ops_hook` names a web hook that what is for ops
    goes to as well. What comes within `settle` goes together, more than `flood` notices to one person become
    one message. What is no more than a warning waits until `apart` is over since the last message, what is
    only for information for a `digest`, or until `daily_at` for who wants it once a day; in the hours
    `quiet` (such as `22-07`) neither goes. These hours are of `timezone`. A message tells times in the first
    of `timezones` whose address or pattern is its reader's; `threads` says which mails share a subject. What
    cannot be sent is tried again after `first_backoff`, doubling up to `longest_backoff`, and given up after
    `give_up`. One sender keeps a recipient to itself for `lease`.
    Links hold for `link_lasts`; they offer to keep something for `keep`, and `extend` more. With `weekly`,
    each Monday at `daily_at` owners and ops get the figures of the week before; `report` is where the page
    stands for them.
    """

    email: bool = False
    ops_hook: str = ""
    settle: timedelta = timedelta(seconds=5)
    flood: int = 3
    apart: timedelta = timedelta(minutes=5)
    digest: timedelta = timedelta(hours=1)
    daily_at: str = "08:00"
    quiet: str = ""
    timezone: str = "UTC"
    timezones: Mapping[str, str] = {}
    threads: Threads = Threads.NEWS
    first_backoff: timedelta = timedelta(minutes=1)
    longest_backoff: timedelta = timedelta(hours=1)
    give_up: timedelta = timedelta(days=1)
    lease: timedelta = timedelta(minutes=2)
    link_lasts: timedelta = timedelta(days=7)
    keep: timedelta = timedelta(hours=8)
    extend: timedelta = timedelta(hours=4)
    weekly: bool = True
    report: str = ""
