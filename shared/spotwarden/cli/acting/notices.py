"""`spotwarden notices`: what waits to be told, what could not be, and a sample of all that there is."""

from collections.abc import Callable, Sequence
from uuid import uuid4

import click

from spotwarden import clock
from spotwarden.cli.acting import outbox
from spotwarden.cli.acting.outbox import NotDoneError, Outbox, OutboxItem, read_outbox
from spotwarden.cli.context import Context, new_tick, open_context
from spotwarden.cli.json_text import json_text
from spotwarden.cli.samples import samples
from spotwarden.cli.table import duration, plain, render
from spotwarden.engine.policy_file.reading import PolicyError, read_policy
from spotwarden.model.action import Tell
from spotwarden.model.notice import Notice
from spotwarden.model.outcome import Done
from spotwarden.notify.outbox.mail_address import address
from spotwarden.notify.templates.kinds import KINDS

HEAD = ("KEY", "STANDS", "TO", "FOR", "KIND", "WHAT", "WHY")
DIGITS = 12
"""How much of a notice's key is shown."""
FEWEST = 6
"""With how few digits of it a notice may be named."""
to_option = click.option("--to", default="", help="Only for this recipient: an address, or a webhook's name.")
all_option = click.option("--all", "everything", is_flag=True, help="All undelivered notices.")


@click.group()
def notices() -> None:
    """List, retry or test notifications.

    \b
    Examples:
      spotwarden notices list
      spotwarden notices retry --all           once the mail server works again
      spotwarden notices test --to ada@example.com
    """


@notices.command("list")
@click.option("--undelivered", is_flag=True, help="Only undelivered notices.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one list.")
def list_(*, undelivered: bool, as_json: bool) -> None:
    """List waiting and undelivered notices, oldest first."""
    context = open_context()
    found = read_outbox(context, waiting=not undelivered)
    if as_json:
        click.echo(json_text([_fields(match) for match in found.items]))
    elif found.items:
        now = clock.now()
        click.echo(
            render(
                HEAD, [(*_cells(match), duration(now - match.at), *_about(match)) for match in found.items]
            )
        )
    elif not found.broken:
        click.echo(f"no notices wait in gs://{context.settings.bucket}")
    if found.broken:
        raise click.ClickException(_broken(found))


@notices.command()
@click.argument("key")
@to_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(key: str, to: str, *, as_json: bool) -> None:
    """Show one notice in full, and who it is for.

    KEY comes from `spotwarden notices list`, or is the notice's ID.
    """
    items = _named(read_outbox(open_context()), key, to)
    if as_json:
        click.echo(json_text([_fields(item) for item in items]))
        return
    notice = items[0].pending.notice
    click.echo(plain(f"{notice.id}: {notice.what}"))
    for word, said in _facts(notice):
        if said:
            click.echo(plain(f"  {word:<9} {said}"))
    for item in items:
        stands = "waits" if item.waiting else "could not be delivered"
        click.echo(plain(f"{item.to}: {stands}, {item.at:%Y-%m-%d %H:%M:%S} UTC  {item.why}".rstrip()))


@notices.command()
@click.argument("keys", metavar="[KEY]...", nargs=-1)
@all_option
@to_option
def retry(keys: Sequence[str], to: str, *, everything: bool) -> None:
    """Send undelivered notices again."""
    context = open_context()
    _each(context, _chosen(context, keys, to, everything=everything), outbox.put_back, "waits once more")


@notices.command("drop")
@click.argument("keys", metavar="[KEY]...", nargs=-1)
@all_option
@to_option
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
def drop_(keys: Sequence[str], to: str, *, everything: bool, yes: bool) -> None:
    """Drop undelivered notices; the audit keeps a record."""
    context = open_context()
    chosen = _chosen(context, keys, to, everything=everything)
    if chosen and not yes:
        click.confirm(f"Drop {len(chosen)}? They won't be sent", abort=True)
    _each(context, chosen, outbox.drop, "dropped")


@notices.command("test")
@click.option("--to", required=True, metavar="ADDRESS", help="Recipient, such as ada@example.com.")
@click.option("--kind", type=click.Choice(sorted(KINDS)), metavar="KIND", help="Only this kind of message.")
def test_(to: str, kind: str | None) -> None:
    """Send a test message of each kind to an address."""
    if not address(to):
        raise click.BadParameter(f"{to!r} is not a valid mail address", param_hint="--to")
    context, tick = open_context(), new_tick("notices")
    chosen = [
        sample for sample in samples(uuid4().hex, to=address(to), at=tick.now) if kind in {None, sample.kind}
    ]
    executor = context.executor(tick)
    for notice in chosen:
        outcome = executor.apply(Tell(reason=f"a sample for {to}", notice=notice))
        if not isinstance(outcome, Done):
            raise click.ClickException(f"{notice.kind}: it could not be published: {outcome}")
    click.echo(f"{len(chosen)} test messages for {to} published on the topic {context.settings.notices}")
    click.echo(
        "notify_developers mails them within about a minute. To see what waits: spotwarden notices list"
    )
    if not _mails(context):
        click.echo("the policy here says `email = false`: only subscribers of the topic get them", err=True)


def _mails(context: Context) -> bool:
    """Whether anything is mailed, as far as it is known here."""
    file = context.settings.policy_file
    try:
        return not file.exists() or read_policy(file).notify.email
    except PolicyError as error:
        raise click.ClickException(str(error)) from error


def _each(
    context: Context, items: Sequence[OutboxItem], do: Callable[[Context, OutboxItem], None], done: str
) -> None:
    for item in items:
        try:
            do(context, item)
        except NotDoneError as error:
            raise click.ClickException(f"{item.key[:DIGITS]} to {item.to}: {error}") from error
        click.echo(plain(f"{item.key[:DIGITS]} to {item.to}: {done}"))


def _chosen(context: Context, keys: Sequence[str], to: str, *, everything: bool) -> list[OutboxItem]:
    """Those that the user means, of what could not be delivered."""
    if everything == bool(keys):
        raise click.UsageError("name notices of `spotwarden notices list`, or add --all")
    found = read_outbox(context, waiting=False)
    if found.broken:
        click.echo(_broken(found), err=True)
    if everything:
        return [match for match in found.items if to in {"", match.pending.recipient.address}]
    return list({item.name: item for key in keys for item in _named(found, key, to)}.values())


def _named(found: Outbox, key: str, to: str) -> list[OutboxItem]:
    """One notice by its id or by the beginning of its key, for all whom it did not reach, or for one."""
    about = [match for match in found.items if match.pending.notice.id == key]
    if not about and len(key) >= FEWEST:
        about = [match for match in found.items if match.key.startswith(key)]
    if len({item.key for item in about}) > 1:
        raise click.ClickException(
            f"several notices begin with {key}; write more characters of the one you mean"
        )
    meant = [notice for notice in about if to in {"", notice.pending.recipient.address}]
    if not meant:
        whose = f" for {to}" if to else ""
        raise click.ClickException(f"there is no {key!r}{whose} here; see `spotwarden notices list`")
    return meant


def _broken(found: Outbox) -> str:
    listed = "\n".join(f"  {broken}" for broken in found.broken)
    return f"these can't be read, so nobody is notified of them; fix or remove them:\n{listed}"


def _cells(item: OutboxItem) -> tuple[str, ...]:
    return (item.key[:DIGITS], "waiting" if item.waiting else "undelivered", item.to)


def _about(item: OutboxItem) -> tuple[str, ...]:
    return (item.pending.notice.kind, item.pending.notice.what, item.why)


def _fields(item: OutboxItem) -> dict[str, object]:
    """What a program is told of it."""
    return {
        "key": item.key,
        "stands": "waiting" if item.waiting else "undelivered",
        "channel": item.pending.recipient.channel,
        "to": item.pending.recipient.address,
        "since": item.pending.since,
        "at": item.at,
        "why": item.why,
        "stands_in": item.pending.stands_in,
        "because": item.pending.because,
        "copy": item.pending.copy,
        "notice": item.pending.notice,
    }


def _facts(notice: Notice) -> list[tuple[str, str]]:
    return [
        ("kind", f"{notice.kind}, {notice.severity.value}"),
        ("job", notice.job),
        ("owner", notice.owner),
        ("at", f"{notice.at:%Y-%m-%d %H:%M:%S} UTC"),
        ("why", notice.why),
        ("then", notice.then),
        ("due", f"{notice.due:%Y-%m-%d %H:%M} UTC" if notice.due else ""),
        ("to do", notice.todo),
        *notice.evidence.items(),
    ]
