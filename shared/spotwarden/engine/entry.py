"""What happens between a message and a sweep, the same for every function that looks at the world."""

from collections.abc import Callable, Mapping
from typing import Any

from spotwarden.engine.fan_out import Swept
from spotwarden.engine.policy_file.reading import read_policy
from spotwarden.engine.settings import Settings
from spotwarden.engine.trigger import close_tick, open_tick
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud

Sweep = Callable[[Cloud, Settings, Policy, Tick], Swept]


def wake(
    function: str,
    message: Mapping[str, Any],
    environ: Mapping[str, str],
    *,
    connect: Callable[..., Cloud],
    sweep: Sweep,
) -> None:
    """Sweep once, as the Pub/Sub message that woke the function asks for; what fails rises, all together."""
    settings = Settings.read(environ)
    tick = open_tick(function, message, settings.layout)
    policy = read_policy(settings.policy_file, settings.mode, settings.ops)
    close_tick(tick, sweep(connect(**settings.connection()), settings, policy, tick))
