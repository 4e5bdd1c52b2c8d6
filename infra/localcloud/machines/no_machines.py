"""Virtual machines with nothing behind them, for who measures thousands of them."""

from collections.abc import Mapping
from datetime import timedelta

from starlette.routing import BaseRoute

from localcloud.ports import Resource


class NoMachines:
    """`Machines` that start nothing: no script of theirs runs, and they end at once."""

    async def boot(self, instance: Resource) -> None:
        """Start nothing."""

    async def shut_down(self, instance_id: str, grace: timedelta) -> None:
        """End nothing, at once."""

    async def suspend(self, instance_id: str) -> None:
        """Nothing runs that could stand still."""

    async def resume(self, instance_id: str) -> None:
        """As `suspend`."""

    async def kill(self, instance_id: str) -> None:
        """As `shut_down`."""

    def update(self, instance: Resource) -> None:
        """Nobody asks."""

    def forget(self, instance_id: str) -> None:
        """Nothing to drop."""

    def admin_routes(self) -> list[BaseRoute]:
        """None."""
        return []

    def console(self, instance_id: str) -> str:
        """An empty console."""
        del instance_id
        return ""

    def guest_attributes(self, instance_id: str) -> Mapping[str, Mapping[str, str]]:
        """No guest has written any."""
        del instance_id
        return {}

    async def close(self) -> None:
        """Nothing to end."""
