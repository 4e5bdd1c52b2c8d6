"""What a rule of governance may know beside the facts."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from spotwarden.model.case import Case
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """`cases` are the open ones, by rule and key. `steady` is since when our own sweeps have come regularly.

    Silence counts only from `steady` on: what nobody could hear was not silent.
    """

    policy: Policy
    tick: Tick
    steady: datetime
    cases: Mapping[tuple[str, str], Case] = {}
