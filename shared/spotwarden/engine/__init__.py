"""Around every sweep: settings, trigger, policy file, the look, apply, audit, log."""

from spotwarden.engine.advance import advance
from spotwarden.engine.entry import wake
from spotwarden.engine.executor import Applier
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.health import reported
from spotwarden.engine.log import silent
from spotwarden.engine.policy_file.reading import PolicyError, read_policy
from spotwarden.engine.settings import Settings, SettingsError
from spotwarden.engine.trigger import close_tick, message_in, open_tick
from spotwarden.governance.sweep import Duty, Governed, govern
from spotwarden.recovery.job_folder import look_at_job
from spotwarden.recovery.places import Places
from spotwarden.recovery.sweep import Rules, Work, know, sweep_jobs

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
