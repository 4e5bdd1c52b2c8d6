"""The kinds of VM that a job is asked for, as `spotwarden show` tells them: how long, at which price."""

from collections.abc import Iterator
from datetime import datetime

from spotwarden.cli.context import Context, new_tick
from spotwarden.create_script.request.cache import with_machines
from spotwarden.create_script.request.stored import with_launch
from spotwarden.model.facts import JobFacts
from spotwarden.model.ladder import Rung
from spotwarden.model.launch import Launch
from spotwarden.model.values import written
from spotwarden.recovery.kinds.complying import comply
from spotwarden.recovery.kinds.ladder import from_now_on, ladder_of
from spotwarden.recovery.kinds.machines import launches
from spotwarden.recovery.kinds.price_file import with_all_prices
from spotwarden.recovery.kinds.price_limits import KINDS, prices_in, usd


def ladder_lines(context: Context, facts: JobFacts, now: datetime) -> Iterator[str]:
    """A line for each kind of VM: how long it is asked for, at most at which price, and what it costs.

    The prices are those of the region of its script. Of a job that waits, the kind that is asked for now is
    marked.
    """
    policy, settings = context.deployed(), context.settings
    limits = policy.placement
    read = with_machines(with_launch(facts, settings.project, policy.recovery.gcloud_version))
    read = comply(read, policy, new_tick("show"))
    if not isinstance(read.launch, Launch):
        return
    priced, ladder = with_all_prices(read, settings.prices_file), ladder_of(read, limits)
    newest = facts.newest
    waits = newest is not None and not newest.instances
    now_asked = next(from_now_on(ladder, now - newest.created), None) if newest and waits else None
    for rung in ladder:
        mark = " (now)" if rung is now_asked else ""
        yield f"{_rung(rung)}{mark}: {_prices(priced, rung)}"


def _rung(rung: Rung) -> str:
    long = f" for {written(rung.up_to)}" if rung.up_to else ""
    most = f" up to {usd(rung.max_price)} an hour" if rung.max_price else ""
    return f"{KINDS[rung.model]}{long}{most}"


def _prices(facts: JobFacts, rung: Rung) -> str:
    """What one VM costs where the script puts it, on each machine type."""
    return ", ".join(_price(facts, launch, rung) for launch in launches(facts))


def _price(facts: JobFacts, launch: Launch, rung: Rung) -> str:
    on = f"{launch.machine} " if len(launches(facts)) > 1 else ""
    price = prices_in(facts, launch, rung.model, spot=False).get(launch.place)
    if price is None:
        asked = ", requested anyway" if rung.max_price else ""
        return f"{on}no known price in {launch.place}{asked}"
    beyond = ", not asked" if rung.max_price is not None and price > rung.max_price else ""
    return f"{on}{usd(price)} in {launch.place}{beyond}"
