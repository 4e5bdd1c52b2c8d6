"""Writes the table of clients in docs/local-cloud-reference.md: `python -m tests.clients.write_clients`."""

from pathlib import Path

from tests.clients.outcomes import Expected, everything

PAGE = Path(__file__).resolve().parents[2] / "docs/local-cloud-reference.md"
START, END = "<!-- clients: generated -->\n", "\n<!-- clients: end -->"


def table() -> str:
    """A row for each client, then each reason for which operations do not pass."""
    clients = sorted(everything().values(), key=lambda each: each.client.lower())
    rows = [_row(each) for each in clients]
    head = "| client | version | played | passed | failed | refused by design | skipped by itself |\n"
    return "\n".join([head + "|---|---|---|---|---|---|---|", *rows, *_reasons(clients)])


def _row(client: Expected) -> str:
    counts = [len(client.failed), len(client.refused), len(client.skipped)]
    cells = [client.client, client.version, client.played or client.does, client.passed, *counts]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _reasons(clients: list[Expected]) -> list[str]:
    """Operations with the same reason stand in one row."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for client in clients:
        kinds = {"refused": client.refused, "fails": client.failed, "skipped": client.skipped}
        for kind, operations in kinds.items():
            for name, why in operations.items():
                found.setdefault((client.client, kind, why), []).append(f"`{name.rpartition('::')[2]}`")
    if not found:
        return []
    lines = [
        f"| {client} | {_some(names)} | {kind} | {why} |" for (client, kind, why), names in found.items()
    ]
    return ["", "| client | what | outcome | why |", "|---|---|---|---|", *lines]


def _some(names: list[str]) -> str:
    """The first of them, and how many more there are; `tests/clients/expected` names all."""
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]


def page() -> str:
    """The page with the table as it should be."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
