"""A slice from its warning to its end on the local cloud, beside recovery: nobody brings it back."""

from datetime import timedelta

import msgspec

from spotwarden.layout import OpenJob
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.governance import Remedy
from spotwarden.model.rule_limits import JobCap, OrphanLimits
from tests.localcloud.permissions.governing import SOON
from tests.localcloud.permissions.slicing import HOUR, ROOM, is_gone, sliced
from tests.localcloud.permissions.stage import Stage
from tests.long import long


def newest(stage: Stage) -> Attempt:
    """The last record of the job's chain."""
    name = stage.names(stage.layout.attempts("train"))[-1]
    stored = stage.owner.store.read(name)
    assert stored is not None
    return msgspec.json.decode(stored.data, type=Attempt)


def asked(stage: Stage, kind: str) -> list[str]:
    """The names of what was deleted or stopped at our own wish."""
    who = stage.account.email
    path = f"/compute/v1/projects/demo/aggregated/operations?filter=operationType%3D{kind}"
    found = stage.look(path)["items"].values()
    operations = [item for scope in found for item in scope.get("operations", ())]
    return [item["targetLink"].rpartition("/")[2] for item in operations if item["user"] == who]


@long
def test_a_slice_over_its_runtime_cap_is_warned_deleted_as_one_and_stays_away():
    """Its job is closed as stopped, since we removed it: recovery makes no other one."""
    cap = JobCap(max_runtime=HOUR, warn=(0.5,), remedy=Remedy.STOP, grace=SOON)
    with Stage("cap_runtime", job_cap=cap, governance=ROOM) as stage:
        sliced(stage)
        stage.sweep("recover_spot")
        stage.wait(minutes=40)
        stage.sweep_until(lambda: is_gone(stage), limit=12, minutes=5)
        assert stage.kinds()[:1] == ["job_cap_warning"]
        assert asked(stage, "delete") == ["train-1-1-abcd"]
        assert asked(stage, "stop") == []
        for _ in range(3):
            stage.wait(minutes=2)
            stage.sweep("recover_spot")
            stage.sweep()
        assert newest(stage).state is AttemptState.STOPPED
        assert stage.names("spotwarden/open/") == []
        assert is_gone(stage)
        warned, acted = (notice for notice in stage.heard() if notice.kind.startswith("job_cap_"))
        assert warned.what.startswith("TPU slice train (2 VMs) ")
        assert acted.what == "TPU slice train (2 VMs) was deleted as a whole"


@long
def test_what_a_person_leaves_of_a_slice_is_warned_of_and_deleted_as_one():
    """One VM is deleted by hand: recovery closes the job, and the rest goes by its group."""
    orphan = OrphanLimits(after=timedelta(0), looks=1, grace=SOON)
    with Stage("reap_vms", orphan=orphan, governance=ROOM) as stage:
        first = min(sliced(stage))
        stage.sweep("recover_spot")
        stage.end(first)
        for _ in range(5):
            stage.wait(minutes=8)
            stage.sweep("recover_spot")
        assert "slice_broken" in stage.kinds()
        assert newest(stage).state is AttemptState.STOPPED
        stage.wait(minutes=20)
        stage.sweep_until(lambda: is_gone(stage), limit=8, minutes=5)
        assert asked(stage, "delete") == ["train-1-1-abcd"]
        warned = next(notice for notice in stage.heard() if notice.kind == "orphan_warning")
        assert warned.what == "TPU slice train (1 VM) is no longer needed by its job"
        assert warned.why.startswith(
            "its job was closed (stopped), but 1 of the 2 VMs of its TPU slice still"
        )
        for _ in range(3):
            stage.wait(minutes=2)
            stage.sweep("recover_spot")
        assert stage.names(stage.layout.build(OpenJob(job="train"))) == []
