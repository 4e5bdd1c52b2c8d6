"""The only place that changes the world. Every change goes into the audit, done or not."""

from spotwarden.engine.executor.apply import Executor

__all__ = ["Executor"]
