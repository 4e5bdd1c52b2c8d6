"""Brings preempted jobs back."""

import os
from functools import partial

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden import runner
from spotwarden.decide.attempts import next_step
from spotwarden.decide.progress import after
from spotwarden.decide.quarantine import set_aside
from spotwarden.gcp import connect
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.script.stored import with_launch


@functions_framework.cloud_event
def recover_spot(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look."""
    settings = runner.Settings.read(os.environ)
    tick = runner.open_tick("recover_spot", event.data["message"])
    policy = runner.read_policy(settings.policy_file, settings.mode)
    runner.close_tick(tick, sweep(connect(**settings.connection()), settings, policy, tick))


def sweep(cloud: Cloud, settings: runner.Settings, policy: Policy, tick: Tick) -> runner.Swept:
    """Look, decide, apply; one bad marker or job never stops the others."""
    seen = runner.gather(cloud, settings.layout)
    apply = runner.Applier(cloud, settings.layout, policy, tick).apply
    decide = partial(next_step, limits=policy.recovery, tick=tick)
    aside = runner.each((action for marker in seen.unusable for action in set_aside(marker, tick)), apply)
    jobs = (with_launch(job, settings.project) for job in seen.jobs)
    moved = runner.each(jobs, partial(runner.advance, next_step=decide, after=after, apply=apply))
    return runner.Swept(waiting=tuple(moved.results), failures=(*aside.failures, *moved.failures))
