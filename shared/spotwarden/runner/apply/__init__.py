"""The only place that changes the world. Every change goes into the audit, done or not."""

from spotwarden.runner.apply.applier import Applier

__all__ = ["Applier"]
