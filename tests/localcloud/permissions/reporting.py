"""What it takes to make the report, to show it, and to send the weekly reports."""

from datetime import timedelta

from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from spotwarden.engine.context import SweepContext
from spotwarden.layout import UsageRecord
from spotwarden.model.prices import VmKind
from spotwarden.model.usage import UsageDay, UsageRun, VmUsage
from spotwarden.report.web import respond
from tests.localcloud.permissions.governing import job
from tests.localcloud.permissions.scenes import scene
from tests.localcloud.permissions.stage import Stage

L4 = VmKind(machine_type="g2-standard-4", gpu="nvidia-l4", gpus=1, region="us-central1", provisioning="SPOT")


@scene("report_jobs")
def a_week_of_a_job(stage: Stage) -> None:
    """A tick on a Monday makes the report and writes messages; a page is read; a later tick goes on."""
    job(stage)
    monday = stage.now.replace(hour=9, minute=0) + timedelta(days=7 - stage.now.weekday())
    stage.wait(seconds=(monday - stage.now).total_seconds())
    day = (monday - timedelta(days=3)).date()
    began = monday.replace(hour=1) - timedelta(days=3)
    used = VmUsage(
        owner="ada@example.com", job="train", kind=L4, runs=(UsageRun(started=began, seconds=3600),)
    )
    stage.store(UsageRecord(day=day), UsageDay(day=day, vms={"7": used}))
    stage.sweep()
    assert {one.kind for one in stage.heard()} == {"weekly_report"}
    with stage.acting() as settings:
        context = SweepContext.open(stage.cloud, settings, stage.policy, stage.tick())
        page = respond(Request(EnvironBuilder("/jobs/train").get_environ()), context)
    assert page.status_code == 200
    stage.wait(minutes=10)
    stage.sweep()
    assert "spotwarden/report/site/index.html" in stage.names("spotwarden/report/site/")
