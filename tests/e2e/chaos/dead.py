"""What a killed sweep still holds, freed as if the time had passed that it may hold it at most."""

from datetime import UTC, datetime, timedelta

import msgspec

from spotwarden.layout import Layout, SweepTurn
from tests.e2e.chaos.cloud import Cloud

LEASE = timedelta(minutes=5)
PAST = datetime(2026, 1, 1, tzinfo=UTC)


def bury(cloud: Cloud, killed: datetime) -> None:
    """Free the turn of the sweeps that died at this moment, and every lease that began before it."""
    cloud.remove(Layout().build(SweepTurn(function="recover_spot")))
    for name, generation in cloud.objects("").items():
        if "/metadata/attempts/" in name:
            _free(cloud, name, generation, killed)


def _free(cloud: Cloud, name: str, generation: int, killed: datetime) -> None:
    record = msgspec.json.decode(cloud.read(name) or b"{}")
    lease = record.get("lease")
    # A sweep that began later lives: its leases are its own.
    if lease and datetime.fromisoformat(lease["until"]) - LEASE <= killed:
        record["lease"] = {**lease, "until": PAST}
        cloud.replace(name, msgspec.json.encode(record), generation)
