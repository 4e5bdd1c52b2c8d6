"""Google's libraries are imported without a search for garbage, and as they are: by their own order."""

import json
import subprocess
import sys

from tests.long import long

SCRIPT = """
import gc, json, sys
from spotwarden.gcp.connect import connect
cloud = connect(project="demo", bucket="b", topic="t", compute_endpoint="http://127.0.0.1:9")
{use}
"""
OPEN = "cloud.store.entries; cloud.compute.instances; cloud.metrics.gpus; cloud.notices.publish\n"


def said(use: str) -> object:
    """What a fresh process prints after that."""
    script = SCRIPT.format(use=use)
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_every_module_of_the_open_cloud_is_what_its_library_made():
    """None is a stand-in that runs later: one such kept Google's publisher from being imported at all."""
    use = (
        "from types import ModuleType\n"
        "odd = [name for name, module in sys.modules.items()"
        " if name.startswith(('google', 'requests', 'charset'))"
        " and type(module) is not ModuleType and type(module).__module__.startswith('spotwarden')]\n"
        "print(json.dumps(odd))"
    )
    assert said(OPEN + use) == []


@long
def test_the_whole_cloud_is_opened_beside_googles_own_clients():
    """In either order, with messages and errors that work."""
    theirs = (
        "from google.cloud import compute_v1, monitoring_v3, pubsub_v1\n"
        "from google.auth import crypt, jwt\n"
        "from google.rpc import error_details_pb2\n"
        "from google.protobuf.timestamp_pb2 import Timestamp\n"
    )
    tell = "print(json.dumps([error_details_pb2.ErrorInfo(reason='x').reason, Timestamp(seconds=3).seconds]))"
    assert said(OPEN + theirs + tell) == ["x", 3]
    assert said(theirs + OPEN + tell) == ["x", 3]


def test_garbage_is_looked_for_again_once_all_is_imported():
    """And what was imported is left out of that."""
    assert said(OPEN + "print(json.dumps([gc.isenabled(), gc.get_freeze_count() > 50_000]))") == [True, True]


def test_who_looks_for_no_garbage_is_not_made_to():
    """A program that has switched it off keeps it off."""
    assert said("gc.disable()\n" + OPEN + "print(json.dumps(gc.isenabled()))") is False


def test_a_cloud_that_is_opened_again_leaves_nothing_out_of_the_search():
    """Each sweep opens one; what the sweep before has thrown away would stay in memory for good."""
    again = (
        "import weakref\n"
        "class Thrown: pass\n"
        "thrown = Thrown()\n"
        "thrown.itself, left = thrown, weakref.ref(thrown)\n"
        "del thrown\n"
        "cloud = connect(project='demo', bucket='b', topic='t', compute_endpoint='http://127.0.0.1:9')\n"
        + OPEN
        + "gc.collect()\n"
        "print(json.dumps(left() is None))"
    )
    assert said(OPEN + again) is True


def test_bucket_and_metrics_are_opened_ahead_and_nothing_else():
    """For who waits for a list of Compute Engine's meanwhile: a notice may never be sent."""
    tell = (
        "print(json.dumps([name in sys.modules for name in"
        " ('spotwarden.gcp.storage', 'google.cloud.monitoring_v3', 'google.pubsub_v1')]))"
    )
    assert said("cloud.open_ahead()\n" + tell) == [True, True, False]
    assert said(tell) == [False, False, False]
