"""Whether a job that is launched again has anything left of its own limits: they hold over all attempts."""

from datetime import datetime

import click
from msgspec.structs import replace

from spotwarden.cli.context import Context
from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch
from spotwarden.model.spans import span
from spotwarden.recovery import submission
from spotwarden.recovery.kinds.bounds import SHORTEST_RUN, time_left, time_up
from spotwarden.recovery.kinds.price_file import read_prices
from spotwarden.recovery.kinds.used_budget import used_budget


def check_left(context: Context, facts: JobFacts, launch: Launch, file: JobFile, now: datetime) -> None:
    """Refuse another attempt of a job that has used up its time or its budget; its VM would be ended at once.

    An attempt under way is gone on with.

    Raises:
        ClickException: what is used up, and what to do.
    """
    if not facts.ledger or submission.in_flight(facts):
        return
    facts = replace(facts, file=file)
    left = time_left(facts, now)
    if left is not None and left < SHORTEST_RUN:
        used = (
            f"its VMs were up for {span(time_up(facts, now))} over all attempts, and its limits allow no more"
        )
    elif budget := used_budget(facts, launch, read_prices(context.settings.prices_file), now):
        used = f"it has used ${budget.used:.2f} of its budget of ${budget.limit:.2f}"
    else:
        return
    raise click.ClickException(
        f"{facts.job} can't go on: {used}. Nothing was sent.\n"
        "Raise it (`run --max-runtime`, `--budget`, or job.toml), or choose another name"
    )
