"""What happens between a message and a sweep, the same for every function that looks at the world."""

from collections.abc import Callable, Mapping
from typing import Any

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.garbage import look_seldom
from spotwarden.engine.policy_file.reading import read_policy
from spotwarden.engine.settings import Settings
from spotwarden.engine.trigger import close_tick, open_tick
from spotwarden.ports import Cloud

Connect = Callable[..., Cloud]


def open_context(
    function: str, message: Mapping[str, Any], environ: Mapping[str, str], connect: Connect
) -> SweepContext:
    """Open what one run of a function works with, from the environment and the message that woke it.

    `connect` is `gcp.connect`'s, or `gcp.rest_only`'s for a function that needs no gRPC.

    Raises:
        SettingsError: the environment lacks something.
        PolicyError: the policy file cannot be read.
    """
    look_seldom()
    settings = Settings.read(environ)
    tick = open_tick(function, message, settings.layout)
    policy = read_policy(settings.policy_file, settings.mode, settings.ops)
    cloud = connect(**settings.connection(), wakeups=topic_of(function))
    return SweepContext.open(cloud, settings, policy, tick)


def topic_of(function: str) -> str:
    """The topic whose messages wake a function (infra/functions.yaml: with hyphens)."""
    return f"spotwarden-{function.replace('_', '-')}"


def wake(
    function: str,
    message: Mapping[str, Any],
    environ: Mapping[str, str],
    connect: Connect,
    sweep: Callable[[SweepContext], Swept],
) -> None:
    """Sweep once, as the Pub/Sub message that woke the function asks for; what fails rises, all together."""
    context = open_context(function, message, environ, connect)
    close_tick(context.tick, sweep(context))
