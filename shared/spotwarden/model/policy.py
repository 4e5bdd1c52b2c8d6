"""The policy as a whole."""

from enum import Enum

import msgspec

from spotwarden.model.limits import PlacementLimits, RecoveryLimits


class Mode(Enum):
    """Whether a function acts, or only says what it would do."""

    OBSERVE = "observe"
    ENFORCE = "enforce"


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a team agreed on; `version` goes into every audit record."""

    version: str
    mode: Mode = Mode.OBSERVE
    recovery: RecoveryLimits = RecoveryLimits()
    placement: PlacementLimits = PlacementLimits()
