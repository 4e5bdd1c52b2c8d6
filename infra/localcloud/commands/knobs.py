"""What the cloud does to people, at a command."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

import click

from localcloud.commands.client import call
from localcloud.running import VARIABLE

UNITS = {"s": 1, "m": 60, "h": 3600}


class Duration(click.ParamType[float]):
    """`90s`, `10m` or `2h`; gives seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds of this text."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", str(value))
        if not match:
            self.fail(f"{value!r} is not a valid duration; write it as 90s, 10m or 2h", param, ctx)
        return float(match[1]) * UNITS[match[2]]


@click.command()
@click.argument("node")
def preempt(node: str) -> None:
    """Preempt a spot VM, as Compute Engine would."""
    call("POST", "/local/preempt", {"node": node})
    click.echo(f"{node} is being preempted")


@click.command()
@click.argument("zone")
@click.argument("machine", required=False)
@click.option("--for", "seconds", type=Duration(), default="10m", show_default=True, help="For how long.")
@click.option("--spot", is_flag=True, help="Spot VMs only.")
@click.option("--off", is_flag=True, help="End the stockout now.")
def stockout(zone: str, machine: str | None, seconds: float, *, spot: bool, off: bool) -> None:
    """Make a zone run out of one or all machine types."""
    body = {"zone": zone, **({"machine": machine} if machine else {}), **({"model": "SPOT"} if spot else {})}
    if off:
        call("DELETE", "/local/stockout", body)
        click.echo(f"{zone} {_has_again(zone)}")
        return
    call("POST", "/local/stockout", {**body, "for_seconds": seconds})
    click.echo(f"{zone} has no {_what(machine, spot=spot)} left for {seconds:g} s")


def _has_again(zone: str) -> str:
    """What a zone has where a stockout has ended: another one may still be in force."""
    left = [item for item in call("GET", "/local/stockout")["stockouts"] if item["zone"] == zone]
    still = ", ".join(_what(item["machine"], spot=item["model"] == "SPOT") for item in left)
    return f"still has no {still} left" if still else "has machines again"


def _what(machine: str | None, *, spot: bool) -> str:
    return f"{'spot ' if spot else ''}{machine or 'machine'}"


@click.command()
@click.argument("service", required=False, default="")
@click.option("--status", type=int, help="Answer with this HTTP status, such as 429 or 503.")
@click.option("--cut", is_flag=True, help="Cut the connection.")
@click.option("--after", is_flag=True, help="Do the work, then lose the answer.")
@click.option("--delay", type=Duration(), help="Wait this long first.")
@click.option("--method", default="", help="Only this HTTP or gRPC method.")
@click.option("--path", default="", help="Only paths that match this regular expression.")
@click.option("--count", type=int, help="Only this many calls.")
@click.option("--probability", type=float, help="Only this share of the calls.")
@click.option("--for", "seconds", type=Duration(), help="Only for this long.")
@click.option("--off", is_flag=True, help="End all faults.")
@click.option("--list", "show", is_flag=True, help="List active faults.")
def fault(*, off: bool, show: bool, **rule: Any) -> None:
    """Make calls fail, or slow them down.

    Example: spotwarden local fault storage --status 503 --count 3
    """
    if off:
        call("DELETE", "/local/faults")
        click.echo("all faults have ended")
        return
    if not show:
        call("POST", "/local/faults", _fault_rule(**rule))
    for line in call("GET", "/local/faults")["faults"]:
        click.echo(f"fault {line['id']}: {line['rule']}, hit {line['hits']} times")


@click.command()
@click.argument("permissions", nargs=-1, metavar="[PERMISSION]...")
@click.option("--off", is_flag=True, help="Give all permissions back.")
def deny(permissions: tuple[str, ...], *, off: bool) -> None:
    """Take permissions from you, commands and VMs.

    Functions keep theirs. Without a permission, list what is denied.

    Example: spotwarden local deny compute.instances.create
    """
    if off and permissions:
        raise click.UsageError("--off gives all permissions back; leave the others out")
    if off:
        call("DELETE", "/local/denials")
    if permissions:
        call("POST", "/local/denials", {"permissions": permissions})
    denied = call("GET", "/local/denials")["denied"]
    click.echo(f"denied: {', '.join(denied)}" if denied else "no permission is denied")


NAMES = {"after": "after_work", "delay": "delay_seconds", "seconds": "for_seconds"}


def _fault_rule(**options: Any) -> dict[str, Any]:
    return {NAMES.get(name, name): value for name, value in options.items() if value not in (None, "", False)}


@click.command()
@click.argument("job", required=False, default="")
def tick(job: str) -> None:
    """Run scheduled jobs now and wait for them."""
    call("POST", "/local/tick", {"job": job} if job else {})
    click.echo("ticked" + _left())


@click.command()
@click.argument("duration", type=Duration())
def travel(duration: float) -> None:
    """Skip time: run what comes due, and wait for it.

    Clocks and metrics advance, and each schedule that comes due runs once. VMs keep their clocks.

    It waits until the functions have finished.
    """
    arrived = call("POST", "/local/travel", {"seconds": duration})
    ahead = f"{arrived['ahead_seconds'] / 60:g} min ahead of this machine"
    click.echo(f"it is {arrived['now']} now, {ahead}{_left()}")


def _left() -> str:
    """Wait until the functions are done; what there is to say where they are not, "" where they are."""
    busy = call("POST", "/local/settle", {})["at_work"]
    return f"; the functions are still at work, messages left: {busy}" if busy else ""


@click.command()
@click.argument("node")
@click.option("--on/--off", "runs", default=True, help="Add or remove it.")
def agent(node: str, *, runs: bool) -> None:
    """Add an Ops Agent to VMs of this name, or remove it.

    Without one, a VM reports no GPU metrics and no log.
    """
    call("POST", "/local/agent", {"node": node, "runs": runs})
    click.echo(f"{node} has {'an' if runs else 'no'} Ops Agent")


@click.command()
@click.option("--down", is_flag=True, help="Accept no connections.")
@click.option("--refuse", "refuses", multiple=True, metavar="ADDRESS", help="Reject mail for this address.")
@click.option("--mute", type=int, default=0, help="Accept this many mails, then hang up without confirming.")
@click.option("--off", is_flag=True, help="End all mail failures.")
def mail(*, down: bool, refuses: tuple[str, ...], mute: int, off: bool) -> None:
    """Make the mail server fail; replaces earlier settings."""
    if down or refuses or mute or off:
        call("POST", "/local/mail", {"down": down, "refuses": refuses, "mute": mute})
    now = call("GET", "/local/mail")
    said = [
        *(["is down"] if now["down"] else []),
        *(f"refuses {address}" for address in now["refuses"]),
        *([f"takes {now['mute']} without saying so"] if now["mute"] else []),
    ]
    click.echo(f"the mail server {', '.join(said) or 'takes everything'}")


@click.command()
def status() -> None:
    """Show the local cloud's addresses, instances and topics."""
    settings: Mapping[str, str] = call("GET", "/local/env")
    click.echo(f"the local cloud: {settings[VARIABLE]}")
    click.echo(f"the mailbox: {settings[VARIABLE]}/local/mailbox")
    if report := settings.get("SPOTWARDEN_REPORT"):
        click.echo(f"the report: {report}")
    instances = call("GET", "/local/instances")["instances"]
    click.echo(f"{len(instances)} instances")
    for instance in instances:
        click.echo(f"  {instance['name']:30} {instance['zone']:18} {instance['status']:12} {instance['id']}")
    topics = call("GET", "/local/topics")["topics"]
    click.echo(f"{len(topics)} topics")
    for instance in topics:
        click.echo(f"  {instance['name']}")


@click.command()
def env() -> None:
    """Print exports that point clients at the local cloud."""
    settings: Mapping[str, str] = call("GET", "/local/env")
    for name, value in settings.items():
        click.echo(f"export {name}={shlex.quote(value)}")
