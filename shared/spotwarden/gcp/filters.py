"""The `filter` of Compute Engine's lists (Google: "Method: instances.aggregatedList", AIP-160)."""

import re
from collections.abc import Collection, Iterable, Mapping

import msgspec

from spotwarden.model.instance import Instance

LONGEST = 3000
"""Characters that a filter may have, so that with everything else a URL stays far below 8 KB."""

# Nobody can have any other name or job; and neither can end the quotes around it.
_NAME = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which instances are wanted: those of these names or of these jobs; all where neither is given."""

    names: frozenset[str] = frozenset()
    jobs: frozenset[str] = frozenset()

    @property
    def nothing(self) -> bool:
        """Whether no instance can be one of them."""
        return not self.all and not self._terms()

    @property
    def all(self) -> bool:
        """Whether every instance is wanted."""
        return not self.names and not self.jobs

    @property
    def filter(self) -> str:
        """As Google is asked; "" where all are wanted, or so many that all are asked for."""
        text = " OR ".join(self._terms())
        return text if len(text) <= LONGEST else ""

    def fits(self, instance: Instance) -> bool:
        """Whether this is one of them: a list that holds more is cut here."""
        return self.all or instance.name in self.names or instance.job in self.jobs

    def _terms(self) -> list[str]:
        terms = [f'(name = "{name}")' for name in sorted(self.names) if _NAME.fullmatch(name)]
        jobs = [job for job in sorted(self.jobs) if _LABEL.fullmatch(job)]
        return terms + [f'(labels.spotwarden-job = "{job}")' for job in jobs]


def either(wanted: Iterable[Wanted]) -> Wanted:
    """What fits any of these."""
    asks = list(wanted)
    if any(ask.all for ask in asks):
        return Wanted()
    return Wanted(
        names=frozenset().union(*(ask.names for ask in asks)),
        jobs=frozenset().union(*(ask.jobs for ask in asks)),
    )


def any_name(names: Collection[str]) -> Mapping[str, str]:
    """The query for what has one of these names; `ValueError` for what can be none."""
    if strange := [name for name in names if not _NAME.fullmatch(name)]:
        raise ValueError(f"No name of a machine or accelerator type: {strange[0]!r}")
    return {"filter": " OR ".join(f'(name = "{name}")' for name in sorted(names))}
