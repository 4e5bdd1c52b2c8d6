"""Around every sweep: settings, trigger, policy file, the look, apply, audit, log."""

from spotwarden.runner.apply import Applier
from spotwarden.runner.each import Swept
from spotwarden.runner.entry import wake
from spotwarden.runner.governance.governing import Duty, Governed, govern
from spotwarden.runner.health import reported
from spotwarden.runner.jobs import look_at_job
from spotwarden.runner.log import silent
from spotwarden.runner.policy.reading import PolicyError, read_policy
from spotwarden.runner.recovery.advance import advance
from spotwarden.runner.recovery.places import Places
from spotwarden.runner.recovery.sweeping import Rules, Work, know, sweep_jobs
from spotwarden.runner.settings import Settings, SettingsError
from spotwarden.runner.trigger import close_tick, message_in, open_tick

__all__ = [
    "Applier",
    "Duty",
    "Governed",
    "Places",
    "PolicyError",
    "Rules",
    "Settings",
    "SettingsError",
    "Swept",
    "Work",
    "advance",
    "close_tick",
    "govern",
    "know",
    "look_at_job",
    "message_in",
    "open_tick",
    "read_policy",
    "reported",
    "silent",
    "sweep_jobs",
    "wake",
]
