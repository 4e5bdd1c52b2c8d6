"""Cloud Scheduler on loopback: jobs that publish or call, when their time has come."""

from localcloud.scheduler.service import SchedulerService

__all__ = ["SchedulerService"]
