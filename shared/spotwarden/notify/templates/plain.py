"""A message as plain text."""

from collections.abc import Iterator

from spotwarden.notify.templates.tables import as_lines
from spotwarden.notify.templates.view import MessageView, Part

ONE_CLICK = "Each link first shows what it will do, and asks; it works one time, and is yours alone."


def plain(view: MessageView) -> str:
    """Its text; every line begins with words of ours, so that nothing within can pass for one of them."""
    many = len(view.parts) > 1 or bool(view.rest)
    return "\n".join(_lines(view, many=many)) + "\n"


def _lines(view: MessageView, *, many: bool) -> Iterator[str]:
    if view.again:
        yield from (view.again, "")
    if view.lead:
        yield view.lead
    for number, part in enumerate(view.parts, 1):
        if many:
            yield from ("", "-" * 40, f"{number}. {part.severity.value.capitalize()}: {part.title}")
        yield from _part(part, many=many)
    if view.rest:
        yield from ("", view.rest, *(f"  - {line}" for line in view.short))
    if any(part.buttons for part in view.parts):
        yield from ("", ONE_CLICK)
    yield from ("", "-- ", "Spotwarden")
    if view.preferences:
        yield f"How often you hear of what is not urgent: {view.preferences}"


def _part(part: Part, *, many: bool) -> Iterator[str]:
    todo, *grounds = part.told
    yield todo
    for button in part.buttons:
        yield f"  > {button.label}: {button.url}"
    if not many:
        yield from ("", f"What happened: {part.title}")
    yield from grounds
    for label, value in part.rows:
        yield f"  - {label}: {value}"
    for table in part.tables:
        yield from ("", *as_lines(table))
    if part.tables:
        yield ""
    if part.report:
        yield f"Open the report: {part.report}"
    for command in part.commands:
        yield f"By command: {command}"
    if not many:
        yield ""
    yield part.reader
