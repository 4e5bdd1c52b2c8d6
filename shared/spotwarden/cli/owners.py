"""Who a job's owner is, as a person types it: a name, or one mail address."""

import re

import click

from spotwarden.notify.outbox.mail_address import address

_NAMED = re.compile(r"[^<>]*<([^<>]*)>\s*")


class OwnerParam(click.ParamType[str]):
    """A name (`ada`), an address, or one as mail programs write it (`Ada <ada@x.org>`)."""

    name = "owner"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, or the bare address: an owner whom no mail reaches is told of nothing."""
        try:
            return owner_of(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def owner_of(said: str) -> str:
    """The owner; `ValueError` for what is meant as an address and is none."""
    text = said.strip()
    named = _NAMED.fullmatch(text)
    if not named and "@" not in text and not {"<", ">"} & set(text):
        return text
    if found := address(named[1].strip() if named else text):
        return found
    raise ValueError(
        f"{said!r} is not a valid mail address; write one, such as ada@example.com, or a name without @"
    )
