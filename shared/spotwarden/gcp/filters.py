"""The `filter` of Compute Engine's lists (Google: "Method: instances.aggregatedList", AIP-160)."""

import re
from collections.abc import Collection, Mapping

import msgspec

from spotwarden.gcp.wire import WireInstance

LONGEST = 3000
"""Characters that a filter may have, so that with everything else a URL stays far below 8 KB."""

# Nobody can have any other name or job; and neither can end the quotes around it.
_NAME = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")


class WantedInstances(msgspec.Struct, frozen=True, kw_only=True):
    """Which instances are wanted: those of these names or of this job; all where neither is given."""

    names: frozenset[str] = frozenset()
    job: str = ""

    @property
    def nothing(self) -> bool:
        """Whether no instance can be one of them."""
        asked_for = bool(self.names or self.job)
        return asked_for and not self._terms()

    @property
    def filter(self) -> str:
        """As Google is asked; "" where all are wanted, or so many that all are asked for."""
        text = " OR ".join(self._terms())
        return text if len(text) <= LONGEST else ""

    def fits(self, instance: WireInstance) -> bool:
        """Whether this is one of them: a list that was asked for whole is cut here."""
        if not self.names and not self.job:
            return True
        return instance.name in self.names or (bool(self.job) and instance.labels.job == self.job)

    def _terms(self) -> list[str]:
        terms = [f'(name = "{name}")' for name in sorted(self.names) if _NAME.fullmatch(name)]
        if _LABEL.fullmatch(self.job):
            terms.append(f'(labels.spotwarden-job = "{self.job}")')
        return terms


def any_name(names: Collection[str]) -> Mapping[str, str]:
    """The query for what has one of these names; `ValueError` for what can be none."""
    if strange := [name for name in names if not _NAME.fullmatch(name)]:
        raise ValueError(f"Not a machine or accelerator type: {strange[0]!r}")
    return {"filter": " OR ".join(f'(name = "{name}")' for name in sorted(names))}
