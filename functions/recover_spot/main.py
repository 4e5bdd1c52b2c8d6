"""Brings preempted jobs back."""

import os
from functools import partial

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden.decide.attempts import next_step
from spotwarden.decide.progress import after
from spotwarden.decide.quarantine import set_aside
from spotwarden.gcp import connect
from spotwarden.runner import Applier, Settings, advance, close_tick, each, gather, open_tick, read_policy
from spotwarden.script.stored import with_launch


@functions_framework.cloud_event
def recover_spot(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look."""
    settings = Settings.read(os.environ)
    tick = open_tick("recover_spot", event.data["message"])
    policy = read_policy(settings.policy_file, settings.mode)
    cloud = connect(
        project=settings.project,
        bucket=settings.bucket,
        topic=settings.notices,
        compute_endpoint=settings.compute_endpoint,
    )
    applier = Applier(cloud, settings.layout, policy, tick)
    seen = gather(cloud, settings.layout)
    decide = partial(next_step, limits=policy.recovery, tick=tick)
    carry_out = partial(advance, next_step=decide, after=after, apply=applier.apply)
    actions = (action for marker in seen.unusable for action in set_aside(marker, tick))
    _, failures = each(actions, applier.apply)
    waiting, more = each((with_launch(job, settings.project) for job in seen.jobs), carry_out)
    close_tick(tick, waiting, [*failures, *more])
