"""`spotwarden submit` as far as the ledger goes: a claim, one request, and then the lid is closed."""

from functools import partial

from msgspec.structs import replace

from spotwarden.create_script.request.stored import launch_of
from spotwarden.engine.advance import Parked, advance
from spotwarden.engine.executor import Executor
from spotwarden.layout import CreateScript
from spotwarden.model.action import Wait
from spotwarden.model.launch import Launch, StoredScript
from spotwarden.model.outcome import Lost
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.recovery import submission
from spotwarden.recovery.attempts import next_step
from spotwarden.recovery.folder.job_folder import look_at_job
from spotwarden.recovery.steps.progress import after
from tests.simulation.jobs import PROJECT, Job
from tests.simulation.product import POLICY, SETTINGS


def submit(cloud: Cloud, job: Job, tick: Tick) -> Wait | Parked | None:
    """Store the script, claim the first attempt, ask for its instances, and leave the rest to the sweeps."""
    layout = SETTINGS.layout
    name = layout.build(CreateScript(job=job.name))
    generation = cloud.store.write(name, job.script, generation=None)
    launch = launch_of(StoredScript(name=name, text=job.script, generation=generation), PROJECT)
    assert isinstance(launch, Launch), launch
    facts = replace(look_at_job(cloud.store, layout, job.name), launch=launch)
    executor = Executor(cloud, layout, POLICY, tick)
    claim = submission.claim(facts, launch, "", POLICY.recovery, tick)
    if isinstance(executor.apply(claim), Lost):
        return None
    facts = replace(look_at_job(cloud.store, layout, job.name), launch=launch)
    decide = partial(next_step, policy=POLICY, tick=tick)
    return advance(facts, next_step=decide, after=after, apply=executor.apply)
