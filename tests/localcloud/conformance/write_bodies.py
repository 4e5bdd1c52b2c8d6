"""Derives what is said of Compute Engine's fields in infra/localcloud/METHODS.md.

Run it after an update of google-api-python-client, or when a field is done or refused:
`python -m tests.localcloud.conformance.write_bodies`.
"""

from tests.localcloud.conformance import bodies
from tests.localcloud.conformance.write_methods import PAGE

BEGIN, END = "<!-- bodies: generated -->", "<!-- bodies: end -->"


def table() -> str:
    """What stands between the two marks of the page."""
    settable = sum(1 for message in bodies.ways() for _ in bodies.members(message))
    refused = ", ".join(f"`{field}`" for field in bodies.refused())
    return "\n".join([
        BEGIN,
        "",
        f"The bodies of Compute Engine have {settable} members that a caller can set.",
        f"These answer 501, unless they ask for nothing: {refused}.",
        "",
        f"{len(bodies.kept())} are checked for their type, kept and told again, and have no effect:",
        "`bodies.kept()` in `tests/localcloud/conformance` names them. The local cloud reads the others.",
        "",
        END,
    ])  # fmt: skip


def with_bodies(text: str) -> str:
    """The page with this table in place of its own."""
    before, _, rest = text.partition(BEGIN)
    return before + table() + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(with_bodies(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
