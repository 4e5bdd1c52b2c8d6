"""Writes the table of clients in tests/clients/README.md: `python -m tests.clients.write_clients`."""

from pathlib import Path

from tests.clients.outcomes import Expected, everything

PAGE = Path(__file__).with_name("README.md")
START, END = "<!-- clients: generated -->\n", "\n<!-- clients: end -->"


def table() -> str:
    """A row for each client, then each reason for which operations do not pass."""
    clients = sorted(everything().values(), key=lambda each: each.client.lower())
    rows = [_row(each) for each in clients]
    head = "| client | version | played | passed | failed | refused by design | skipped by itself |\n"
    return "\n".join([head + "|---|---|---|---|---|---|---|", *rows, *_reasons(clients)])


def _row(client: Expected) -> str:
    counts = [len(client.failed), len(client.refused), len(client.skipped)]
    does = f"{client.does}; last played on {client.played}" if client.played else client.does
    cells = [client.client, client.version, does, client.passed, *counts]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _reasons(clients: list[Expected]) -> list[str]:
    """What is refused or fails, by its reason; what a suite skips by itself says nothing about this cloud."""
    found: dict[tuple[str, str], int] = {}
    for client in clients:
        for why in (*client.refused.values(), *client.failed.values()):
            found[client.client, why] = found.get((client.client, why), 0) + 1
    lines = [f"| {client} | {count} | {why} |" for (client, why), count in found.items()]
    return (
        ["", "| client | operations | refused or failed, since |", "|---|---|---|", *lines] if found else []
    )


def page() -> str:
    """The page with the table as it should be."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
