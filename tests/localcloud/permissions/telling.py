"""What it takes to bring notices to people, and to take their answers."""

from base64 import b64encode
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from spotwarden.create_script.request.stored import launch_of
from spotwarden.engine.context import SweepContext
from spotwarden.layout import AttemptRecord, CreateScript, StatusCode
from spotwarden.model.attempt import Attempt, AttemptState, Try
from spotwarden.model.launch import Launch, StoredScript
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.notice import Notice, Severity, Way
from spotwarden.notify import channels
from spotwarden.notify.outbox.intake import take_in
from spotwarden.notify.outbox.renderer import Renderer
from spotwarden.notify.outbox.sweep import deliver
from tests.localcloud.permissions.governing import A2_ONLY, job, stopped
from tests.localcloud.permissions.scenes import scene
from tests.localcloud.permissions.stage import PROJECT, ZONE, Stage
from tests.notify.links.answer_web import Web

ADA = "ada@example.com"
SERVER_ERROR = 500


def notice(stage: Stage, **said: object) -> Notice:
    """Something that Ada is told."""
    usual: dict[str, Any] = {
        "id": "made-up/one",
        "kind": "gave_up",
        "severity": Severity.URGENT,
        "job": "train",
    }
    words = {"at": stage.now, "what": "train needs you", "why": "because", "owner": ADA}
    return Notice(**{**usual, **words, **said})


@scene("notify_developers", notify=NotifyLimits(email=True))
def a_notice(stage: Stage) -> None:
    """It is taken in, and brought by mail once it has settled."""
    mail = {
        "SPOTWARDEN_SMTP": f"smtp+plain://127.0.0.1:{stage.local.mailbox.port}",
        "SPOTWARDEN_MAIL_FROM": "Spotwarden <spotwarden@example.com>",
    }
    cloud = replace(stage.cloud, mailer=channels.open_mailer(channels.ChannelSettings.read(mail)))
    message = {"data": b64encode(msgspec.json.encode(notice(stage))).decode(), "attributes": {}}
    with stage.acting() as settings:
        context = SweepContext.open(cloud, settings, stage.policy, stage.tick(patient=False))
        assert take_in(context, message).failures in ([], ())
    stage.wait(minutes=1)
    with stage.acting() as settings:
        context = SweepContext.open(cloud, settings, stage.policy, stage.tick())
        renderer = Renderer(limits=stage.policy.notify, domain="example.com")
        assert deliver(context, renderer, lambda: stage.now).failures in ([], ())
    assert [one["to"] for one in stage.look("/local/mailbox.json") if one["channel"] == "mail"] == [ADA]
    assert stage.names("spotwarden/outbox/") == []


def web(stage: Stage) -> Web:
    """Ada with a browser, in front of the function."""
    cloud = SimpleNamespace(
        clock=SimpleNamespace(now=lambda: stage.now), notices=SimpleNamespace(messages=[])
    )
    with stage.acting() as settings:
        world = SimpleNamespace(cloud=cloud, settings=settings, policy=stage.policy)
    made = Web(world)
    made.cloud = stage.cloud
    return made


@scene("answer_notice", compliance=A2_ONLY)
def a_click_that_stops_a_vm(stage: Stage) -> None:
    """The page says what it would do, and the click does it."""
    job(stage)
    stage.sweep("check_compliance")
    warning = next(one for one in stage.heard() if Way.STOP in one.ways)
    browser = web(stage)
    token = browser.token(browser.offer(Way.STOP, warning, warning.owner))
    with stage.acting():
        assert browser.open(token).status_code == 200
        assert browser.click(token).status_code == 200
    assert stopped(stage)


@scene("answer_notice")
def a_click_that_starts_a_job_again(stage: Stage) -> None:
    """Its next attempt is claimed, and its old status goes."""
    made = job(stage)
    stage.store(CreateScript(job="train"), b"gcloud compute instances create train --zone=us-central1-a\n")
    over = Attempt(
        job="train",
        number=1,
        state=AttemptState.STOPPED,
        created=stage.now,
        updated=stage.now,
        instances={"train": made},
        owner=ADA,
    )
    stage.store(AttemptRecord(job="train", attempt=1), over)
    stage.store(StatusCode(job="train"), b"1")
    stage.end("train")
    browser = web(stage)
    told = notice(stage, kind="stopped", ways=(Way.RESTART,))
    token = browser.token(browser.offer(Way.RESTART, told, ADA))
    with stage.acting():
        assert browser.open(token).status_code == 200
        assert browser.click(token).status_code == 200
    assert "train/metadata/attempts/2.json" in stage.names("train/metadata/attempts/")
    assert stage.names("train/metadata/status-code") == []


@scene("answer_notice")
def a_click_while_a_vm_of_the_job_is_still_there(stage: Stage) -> None:
    """Its id was never written down: the log tells that a request of the chain made it, so nothing begins."""
    request = str(uuid4())
    over = Attempt(
        job="train",
        number=1,
        state=AttemptState.STOPPED,
        created=stage.now,
        updated=stage.now,
        tries=(Try(place=ZONE, request_id=request, at=stage.now),),
        owner=ADA,
    )
    stage.store(AttemptRecord(job="train", attempt=1), over)
    stage.vm("train", request_id=request)
    assert not restarted(stage)


@scene("answer_notice")
def a_click_while_a_vm_that_was_launched_by_hand_is_there(stage: Stage) -> None:
    """That it is what the stored script makes, only a look at the VM itself tells."""
    gone = job(stage)
    stage.end("train")
    text = f"gcloud compute instances create train --zone={ZONE} --machine-type=e2-small\n".encode()
    stage.store(CreateScript(job="train"), text)
    over = Attempt(
        job="train",
        number=1,
        state=AttemptState.STOPPED,
        created=stage.now,
        updated=stage.now,
        instances={"train": gone},
        owner=ADA,
    )
    stage.store(AttemptRecord(job="train", attempt=1), over)
    launch = launch_of(StoredScript(name="by-hand.sh", text=text, generation=1), PROJECT)
    assert isinstance(launch, Launch), launch
    stage.owner.compute.launch(launch.request, str(uuid4()))
    stage.until(lambda: stage.status("train") == "RUNNING")
    assert not restarted(stage)


def restarted(stage: Stage) -> bool:
    """Whether Ada's click on the link that starts the job again has begun an attempt."""
    told = notice(stage, kind="stopped", ways=(Way.RESTART,))
    browser = web(stage)
    token = browser.token(browser.offer(Way.RESTART, told, ADA))
    with stage.acting():
        assert browser.click(token).status_code < SERVER_ERROR
    return "train/metadata/attempts/2.json" in stage.names("train/metadata/attempts/")
