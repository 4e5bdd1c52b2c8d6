"""Brings preempted jobs back."""

import os
from functools import partial

import functions_framework
from cloudevents.http import CloudEvent

from spotwarden.create_script.request import cache as known
from spotwarden.create_script.request import compare, stored
from spotwarden.engine.entry import wake
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.health import reported
from spotwarden.engine.settings import Settings
from spotwarden.engine.trigger import message_in
from spotwarden.gcp.connect import connect
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.recovery import admission, attempts, news, placement, progress, quarantine
from spotwarden.recovery.sweep import Rules, Work, sweep_jobs


@functions_framework.cloud_event
@reported
def recover_spot(event: CloudEvent) -> None:
    """Entry point. The event says only that it is time to look, and perhaps where first."""
    wake("recover_spot", message_in(event.data), os.environ, connect=connect, sweep=sweep)


def sweep(cloud: Cloud, settings: Settings, policy: Policy, tick: Tick) -> Swept:
    """Look, decide, apply; one bad marker or job never stops the others."""
    rules = Rules(
        set_aside=partial(quarantine.set_aside, tick=tick),
        launch=partial(stored.with_launch, project=settings.project),
        admit=partial(admission.admit, limits=policy.admission, project=settings.project),
        ran=known.with_ran,
        places=partial(known.with_places, limits=policy.placement),
        next_step=partial(attempts.next_step, policy=policy, tick=tick, compare=compare.differences),
        after=progress.after,
        news=partial(news.news, tick=tick),
        learn=partial(placement.learn, limits=policy.placement),
    )
    return sweep_jobs(Work.open(cloud, settings, policy, tick), rules)
