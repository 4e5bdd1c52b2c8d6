"""Whether anybody can say what a job costs: asked before anything is sent or recorded."""

import click

from spotwarden.cli.context import Context
from spotwarden.model.launch import Launch
from spotwarden.model.prices import VmKind
from spotwarden.recovery.price_file import read_prices
from spotwarden.recovery.prices import kind_of_launch, price_of


def check_priced(context: Context, launch: Launch, budget: float | None) -> None:
    """Refuse a budget that can't be enforced; without a budget, say that the cost will not be known.

    Where there are no prices here, the functions have theirs, and it is only said.

    Raises:
        ClickException: the machine has no known price where the job starts; says what to do.
    """
    kind = kind_of(launch)
    if not kind.machine_type:
        return
    table = read_prices(context.settings.prices_file)
    if table.problem:
        if budget is not None:
            click.echo(f"the budget can't be checked here: {table.problem}", err=True)
        return
    if price_of(kind, table) is not None:
        return
    gpus = f" with {kind.gpus} {kind.gpu}" if kind.gpu else ""
    unknown = f"{kind.machine_type}{gpus} ({kind.provisioning}) has no known price in {kind.region}"
    if budget is None:
        click.echo(f"{unknown}: this job's cost won't be known, nor count towards any limit", err=True)
        return
    raise click.ClickException(
        f"{unknown}, so we can't enforce the budget of ${budget:g}. Nothing was sent.\n"
        f"Add its price to {context.settings.prices_file}, or use --max-runtime instead of a budget.\n"
        "Ops refresh all prices with: python infra/pricing/write_prices.py --key API_KEY"
    )


def kind_of(launch: Launch) -> VmKind:
    """What the price of one of its VMs depends on, as its request says."""
    body = launch.request.body
    scheduling = body.get("instanceProperties", body).get("scheduling", {})
    model = "SPOT" if launch.spot else scheduling.get("provisioningModel", "STANDARD")
    return kind_of_launch(launch, launch.place, model)
