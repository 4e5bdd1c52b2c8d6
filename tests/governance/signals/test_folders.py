"""When a job's folder is listed, and when what was listed before is enough."""

import itertools
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from spotwarden.engine.cache import GenerationCache
from spotwarden.governance.signals import listings
from spotwarden.governance.signals.folders import BEATS, LISTED_AGAIN, PAUSE_AT_MOST, SHARE, JobFolders
from spotwarden.governance.signals.listings import FEW
from spotwarden.layout import Heartbeat, JobFileName, Layout, LogFile, OpenJob, StatusCode
from spotwarden.model.watch import Watch, Watched
from spotwarden.ports import Entry
from spotwarden.recovery.folder.folder_list import look_into
from spotwarden.recovery.folder.node_beats import LazyBeats
from tests.fakes.beats import kit_beat
from tests.fakes.clock import VirtualClock
from tests.fakes.store import MemoryStore
from tests.fakes.trouble import unanswered

LAYOUT = Layout()
MINUTE = timedelta(minutes=1)
NOW = datetime(2026, 11, 21, tzinfo=UTC)
JOBS = (f"folder-{number}" for number in itertools.count())
"""What was listed is remembered by name: each test has a job of its own."""


class Looks:
    """A store that counts what a look costs, and a job in it of one node, with the id 17."""

    def __init__(self):
        self.store, self.job = MemoryStore(), next(JOBS)
        self.lists, self.reads = 0, 0
        self.write(JobFileName(job=self.job), b"")
        self.open()

    def __getattr__(self, name):
        return getattr(self.store, name)

    def entries(self, prefix, **how):
        """As the store, and counted."""
        self.lists += 1
        return self.store.entries(prefix, **how)

    def entry(self, name):
        """As the store, and counted."""
        self.reads += 1
        return self.store.entry(name)

    def write(self, thing, data=b"x"):
        """Somebody writes an object."""
        self.store.put(LAYOUT.build(thing), data, {})

    def open(self, **more):
        """The entry of the job among the open ones is written."""
        watch = {"job": self.job, "attempt": 1, "instances": {self.job: "17"}, "recorded": True, **more}
        self.write(OpenJob(job=self.job), msgspec.json.encode(Watch(**watch)))

    def beat(self, **more):
        """The job kit on its node writes a heartbeat."""
        said = {"job": self.job, "attempt": 1, "instance_id": "17", **more}
        kit_beat(self.store, self.job, **said)

    def look(self, ids=("17",), *, anew=False):
        """Look at the job as one sweep does; gives how many lists and reads that took, and the folder."""
        self.lists = self.reads = 0
        name = LAYOUT.build(OpenJob(job=self.job))
        watches = {}
        if (stored := self.store.read(name)) is not None:
            watch = msgspec.json.decode(stored.data, type=Watch)
            watches[self.job] = Watched(watch=watch, generation=stored.generation, since=stored.updated)
        folders = JobFolders(self, LAYOUT, self.store.clock.now(), LazyBeats(self, LAYOUT), watches)
        folder = folders.anew(self.job, ids) if anew else folders.look(self.job, ids)
        assert folders.old() == (set() if self.lists else {self.job})
        return (self.lists, self.reads), folder

    def wait(self, time):
        """Time passes."""
        self.store.clock.advance(time)


@pytest.fixture
def looks():
    """A job with the kit, which was looked at just now."""
    looks = Looks()
    looks.wait(MINUTE)
    looks.beat()
    assert looks.look()[0] == (1, 0)
    return looks


def test_a_job_whose_heartbeat_is_fresh_is_taken_as_it_was(looks):
    """Neither a list nor a read."""
    looks.wait(BEATS - MINUTE)
    cost, folder = looks.look()
    assert cost == (0, 0)
    assert set(folder.things) == {
        JobFileName(job=looks.job),
        Heartbeat(job=looks.job, node=looks.job),
    }


@pytest.mark.parametrize(
    "says",
    [
        {"status": "0"},
        {"status": "stopped"},
        {"attempt": 2},
        {"attempt": "x"},
        {"instance_id": "18"},
        {"job": "other"},
    ],
)
def test_a_heartbeat_that_does_not_say_that_all_is_as_it_was_speaks_for_nobody(looks, says):
    """The job's end and settings are looked at then, as those of a job without the kit."""
    looks.wait(MINUTE)
    looks.beat(**says)
    assert looks.look()[0] == (0, 2)


def test_an_old_heartbeat_speaks_for_nobody(looks):
    """One that came three periods ago may be of a VM that is gone."""
    looks.wait(BEATS)
    assert looks.look()[0] == (0, 2)


def test_every_node_of_a_gang_has_to_speak(looks):
    """One that is silent may have ended."""
    looks.open(instances={looks.job: "17", "other": "18"})
    looks.look()
    assert looks.look()[0] == (0, 2)


@pytest.mark.parametrize("change", ["entry", "vms", "taken off", "a node is gone"])
def test_what_we_and_compute_engine_know_of_a_job_has_it_listed(looks, change):
    """A new attempt, another VM, the job's end by our hand."""
    looks.wait(MINUTE)
    if change == "taken off":
        name = LAYOUT.build(OpenJob(job=looks.job))
        looks.store.delete(name, generation=looks.store.read(name).generation)
    elif change != "vms":
        looks.open(**({"whole": looks.store.clock.now()} if change == "a node is gone" else {}))
        looks.look() if change == "a node is gone" else None
    assert looks.look(("17", "18") if change == "vms" else ("17",))[0] == (1, 0)


def test_a_list_counts_for_an_hour(looks):
    """A job.toml that is written anew is seen by then."""
    looks.wait(LISTED_AGAIN - MINUTE)
    looks.beat()
    looks.write(JobFileName(job=looks.job), b"new")
    assert looks.look()[0] == (0, 0)
    looks.wait(MINUTE)
    assert looks.look()[0] == (1, 0)


def test_a_clock_that_was_set_back_has_it_listed(looks):
    """Nobody knows how old the list is then."""
    looks.store.clock = VirtualClock()
    assert looks.look()[0] == (1, 0)


def test_who_acts_has_it_listed_whatever_is_known(looks):
    """Nothing is done by an old list."""
    looks.write(StatusCode(job=looks.job))
    cost, folder = looks.look(anew=True)
    assert cost == (1, 0)
    assert StatusCode(job=looks.job) in folder.things


@pytest.fixture
def mute():
    """A job without the kit, whose training loop has written a heartbeat, looked at just now."""
    looks = Looks()
    looks.write(Heartbeat(job=looks.job, node=looks.job))
    looks.look()
    return looks


@pytest.mark.parametrize("thing", [StatusCode, JobFileName])
def test_of_a_job_without_the_kit_an_end_and_a_setting_are_seen_at_the_next_look(mute, thing):
    """They are read one by one, and what has changed has the whole listed."""
    mute.wait(MINUTE)
    assert mute.look()[0] == (0, 3)
    mute.write(thing(job=mute.job), b"new")
    mute.wait(MINUTE)
    cost, folder = mute.look()
    assert cost[0] == 1
    assert folder.things[thing(job=mute.job)].size == len(b"new")


def test_a_heartbeat_of_a_jobs_own_is_seen_without_a_list(mute):
    """It is one of the objects that are looked at."""
    mute.wait(MINUTE)
    mute.write(Heartbeat(job=mute.job, node=mute.job))
    cost, folder = mute.look()
    assert cost == (0, 3)
    assert folder.things[Heartbeat(job=mute.job, node=mute.job)].updated == mute.store.clock.now()


def test_the_longer_a_job_has_not_changed_the_more_rarely_it_is_looked_at(mute):
    """After a twelfth of that time, and at least each half hour."""
    looked = []
    for minute in range(20 * 60):
        mute.wait(MINUTE)
        if mute.look()[0] != (0, 0):
            looked.append(minute)
    pauses = [later - sooner for sooner, later in itertools.pairwise(looked)]
    assert pauses[:10] == [1] * 10
    assert max(pauses) * MINUTE == PAUSE_AT_MOST
    assert len(looked) < SHARE * 9
    mute.write(StatusCode(job=mute.job))
    mute.wait(PAUSE_AT_MOST)
    assert StatusCode(job=mute.job) in mute.look()[1].things


def mute_jobs(count):
    """What looks at so many jobs without the kit, and gives how many lists and reads that took."""
    looks = Looks()
    jobs = [looks.job, *(next(JOBS) for _ in range(count - 1))]
    for job in jobs:
        looks.write(JobFileName(job=job))
    watches = {
        job: Watched(watch=Watch(job=job, instances={job: "17"}), generation=1, since=NOW) for job in jobs
    }

    def look():
        looks.lists = looks.reads = 0
        folders = JobFolders(looks, LAYOUT, looks.clock.now(), LazyBeats(looks, LAYOUT), watches)
        folders.list_ahead(dict.fromkeys(jobs, ("17",)), 1)
        for job in jobs:
            folders.look(job, ("17",))
        return looks.lists, looks.reads

    return look, looks.wait


@pytest.mark.parametrize("more", [0, 1])
def test_many_jobs_that_are_due_for_a_look_are_listed_together(more):
    """As after a storm, when all of them have just changed: a few are looked at object by object."""
    look, wait = mute_jobs(FEW + more)
    assert look() == (1 if more else FEW, 0)
    wait(5 * MINUTE)
    assert look() == ((1, 0) if more else (0, 2 * FEW))
    wait(5 * MINUTE / SHARE - timedelta(seconds=1))
    assert look() == (0, 0)


class Crowd:
    """A bucket of many jobs, each with settings and one node, and what their look costs."""

    def __init__(self, count):
        self.store = MemoryStore()
        self.jobs = [next(JOBS) for _ in range(count)]
        self.asked, self.ranges = [], []
        for job in self.jobs:
            self.store.put(LAYOUT.build(JobFileName(job=job)), b"x", {})
            self.store.put(LAYOUT.build(StatusCode(job=job)), b"0", {"attempt": "1"})

    def __getattr__(self, name):
        return getattr(self.store, name)

    def entries(self, prefix, *, glob="", **part):
        """As the store, and remembered."""
        self.asked.append(("*" if glob else "") + prefix)
        if glob:
            self.ranges.append((part["start"], part["end"]))
        return self.store.entries(prefix, glob=glob, **part)

    def look(self):
        """Every folder, as a sweep looks at them that knows nothing."""
        now = self.store.clock.now()
        folders = JobFolders(self, LAYOUT, now, LazyBeats(self, LAYOUT), {})
        folders.list_ahead(dict.fromkeys(self.jobs, ()), 1)
        return {job: folders.look(job, ()) for job in self.jobs}


@pytest.fixture
def small_lists(monkeypatch):
    """One list covers ten folders, and shows the metadata of twelve rows."""
    monkeypatch.setattr(listings, "IN_A_LIST", 10)
    monkeypatch.setattr(listings, "DESCRIBED_AT_MOST", 12)


@pytest.mark.parametrize("more", [0, 1])
def test_many_folders_are_listed_together(more):
    """With one job more than a few there is one list, and it shows what the lists of each would."""
    crowd = Crowd(FEW + more)
    found = crowd.look()
    assert found == {job: look_into(crowd.store, LAYOUT, job) for job in crowd.jobs}
    assert len(crowd.asked) == (1 if more else FEW)


@pytest.mark.parametrize(("come", "listed"), [(0, 1), (1, 2)])
def test_names_of_folders_are_listed_again_only_for_jobs_that_have_come(monkeypatch, come, listed):
    """They are pages of a list in each tick; what is shown is as it is now, whoever has come or gone."""
    GenerationCache.forget()
    crowd, made = Crowd(3 * FEW), []
    folders = crowd.store.folders
    monkeypatch.setattr(crowd.store, "folders", lambda prefix: made.append(prefix) or folders(prefix))
    crowd.look()
    gone = crowd.jobs[0]
    for entry in crowd.store.entries(LAYOUT.folder(gone)):
        crowd.store.delete(entry.name, generation=entry.generation)
    for _ in range(come):
        crowd.jobs.append(next(JOBS))
        crowd.store.put(LAYOUT.build(JobFileName(job=crowd.jobs[-1])), b"x", {})
    found = crowd.look()
    assert found == {job: look_into(crowd.store, LAYOUT, job) for job in crowd.jobs}
    assert found[gone].things == {}
    assert len(made) == listed


@pytest.mark.usefixtures("small_lists")
def test_a_list_covers_no_more_folders_than_are_held_at_once():
    """They are cut by the order of their names; all is as if each had been listed."""
    crowd = Crowd(5 * FEW)
    found = crowd.look()
    assert found == {job: look_into(crowd.store, LAYOUT, job) for job in crowd.jobs}
    assert len(crowd.ranges) == len(crowd.jobs) / 10
    folders = [LAYOUT.folder(job) for job in crowd.jobs]
    assert all(sum(start <= folder < end for folder in folders) == 10 for start, end in crowd.ranges)


def test_a_list_of_some_begins_and_ends_with_them():
    """What lies before the first and behind the last of the jobs is not in it."""
    crowd = Crowd(3 * FEW)
    crowd.jobs = sorted(crowd.jobs)[FEW : 2 * FEW + 1]
    crowd.look()
    assert crowd.ranges == [(f"{crowd.jobs[0]}/", f"{crowd.jobs[-1]}0")]


def test_a_job_whose_name_goes_on_with_a_hyphen_lies_before_it():
    """As its objects do: none of either is missing where one of them is the first or the last."""
    crowd = Crowd(FEW)
    for job in ("a", "a-1", "zz", "zz-1"):
        crowd.store.put(LAYOUT.build(JobFileName(job=job)), b"x", {})
        crowd.jobs.append(job)
    assert crowd.look() == {job: look_into(crowd.store, LAYOUT, job) for job in crowd.jobs}


@pytest.mark.usefixtures("small_lists")
def test_a_job_whose_end_came_without_metadata_is_listed_by_name():
    """These say whose end it is: the last four of ten jobs have theirs in rows beyond the twelfth."""
    rows = [Entry(name=f"j{number}/metadata/{name}", generation=1, updated=NOW, size=0)
            for number in range(10) for name in ("job.toml", "status-code")]  # fmt: skip
    jobs = [f"j{number}" for number in range(10)]
    assert set(listings.folders_in(LAYOUT, rows, jobs)) == set(jobs[:6])


def test_jobs_behind_the_logs_of_another_are_listed_by_name(monkeypatch):
    """Any job VM may write as many as it likes, in any job's name: one list shows so many rows at most."""
    crowd = Crowd(FEW + 1)
    rows = 2 * len(crowd.jobs)
    full, after = crowd.jobs[9], crowd.jobs[10:]
    for number in range(rows):
        crowd.store.put(LAYOUT.build(LogFile(job=full, node=f"n{number}", attempt=1)), b"", {})
    monkeypatch.setattr(listings, "PART_AT_MOST", rows)
    found = crowd.look()
    assert found == {job: look_into(crowd.store, LAYOUT, job) for job in crowd.jobs}
    assert crowd.asked[0] == "*"
    assert sorted(prefix for prefix in crowd.asked if prefix != "*")[: len(after) + 1] == [
        LAYOUT.metadata(job) for job in (full, *after)
    ]


def test_a_list_that_is_not_answered_leaves_each_job_to_its_own():
    """One problem of the bucket is no problem of all jobs."""
    crowd = Crowd(FEW + 1)
    crowd.store.trouble.order("entries", unanswered(after_work=False))
    assert len(crowd.look()) == FEW + 1
    assert len(crowd.asked) == FEW + 2


def test_a_few_of_many_folders_are_listed_by_name(monkeypatch):
    """A list of all would have more pages."""
    monkeypatch.setattr(listings, "IN_A_LIST", 10_000)
    apart = listings.JOBS_A_PAGE + FEW
    crowd = Crowd(apart * (FEW + 1))
    crowd.jobs = sorted(crowd.jobs)[::apart]
    crowd.look()
    assert crowd.asked == [LAYOUT.metadata(job) for job in crowd.jobs]
