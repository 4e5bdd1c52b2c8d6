"""Around every sweep: settings, trigger, policy file, the look, apply, audit, log."""

from spotwarden.runner.advance import advance
from spotwarden.runner.apply import Applier
from spotwarden.runner.each import Swept, each
from spotwarden.runner.gather import gather, look_at_job, read_ledger
from spotwarden.runner.log import silent
from spotwarden.runner.policy import PolicyError, read_policy
from spotwarden.runner.settings import Settings, SettingsError
from spotwarden.runner.trigger import close_tick, open_tick

__all__ = [
    "Applier",
    "PolicyError",
    "Settings",
    "SettingsError",
    "Swept",
    "advance",
    "close_tick",
    "each",
    "gather",
    "look_at_job",
    "open_tick",
    "read_ledger",
    "read_policy",
    "silent",
]
