"""gcsfs, which pandas, dask and torch read and write buckets with."""

from tests.clients.installing import venv
from tests.clients.lane import asked, play
from tests.clients.outcomes import differences, expected, of_lines
from tests.clients.programs import OPERATION

pytestmark = asked

PROGRAM = f"""{OPERATION}
import os, sys
import gcsfs

url = os.environ["STORAGE_EMULATOR_HOST"]
fs = gcsfs.GCSFileSystem(project="demo-project", token="anon", endpoint_url=url)

@operation
def make_a_bucket():
    fs.mkdir("training", acl=None, default_acl=None)
    assert "training" in [name.rstrip("/") for name in fs.ls("")]

@operation
def write_and_read():
    with fs.open("training/runs/1/model.bin", "wb") as file:
        file.write(b"weights" * 1000)
    with fs.open("training/runs/1/model.bin", "rb") as file:
        assert file.read() == b"weights" * 1000

@operation
def write_in_blocks():
    with fs.open("training/runs/1/large.bin", "wb", block_size=2**20) as file:
        for number in range(5):
            file.write(bytes([number]) * 700_000)
    assert fs.size("training/runs/1/large.bin") == 3_500_000
    with fs.open("training/runs/1/large.bin", "rb", block_size=2**18) as file:
        file.seek(2_800_000)
        assert file.read(3) == bytes([4] * 3)

@operation
def pipe_and_cat():
    fs.pipe({{"training/a": b"1", "training/b": b"22"}})
    assert fs.cat(["training/a", "training/b"]) == {{"training/a": b"1", "training/b": b"22"}}
    assert fs.cat_file("training/runs/1/model.bin", start=7, end=14) == b"weights"

@operation
def list_walk_glob_and_du():
    assert fs.ls("training/runs", detail=False) == ["training/runs/1"]
    assert fs.find("training/runs") == ["training/runs/1/large.bin", "training/runs/1/model.bin"]
    assert fs.glob("training/runs/*/*.bin") == fs.find("training/runs")
    assert fs.du("training/runs") == 3_507_000
    assert [name for name, _, _ in fs.walk("training")] == ["training", "training/runs", "training/runs/1"]

@operation
def info_and_metadata():
    fs.setxattrs("training/a", content_type="text/plain", step="17")
    fs.invalidate_cache()
    info = fs.info("training/a")
    assert (info["size"], info["type"], info["contentType"]) == (1, "file", "text/plain"), info
    assert fs.getxattr("training/a", "step") == "17"
    assert fs.isdir("training/runs") and not fs.exists("training/nothing")

@operation
def only_where_nothing_is():
    try:
        fs.pipe_file("training/a", b"other", mode="create")
    except FileExistsError:
        pass
    else:
        raise AssertionError("it was overwritten")
    assert fs.cat_file("training/a") == b"1"

@operation
def copy_move_and_delete():
    fs.copy("training/a", "training/c")
    fs.mv("training/c", "training/d")
    fs.invalidate_cache()
    assert fs.exists("training/d") and not fs.exists("training/c")
    fs.rm(["training/a", "training/b", "training/d"])
    assert fs.ls("training", detail=False) == ["training/runs"]

@operation
def put_and_get_folders():
    os.makedirs("here/deep", exist_ok=True)
    for name in ("here/1", "here/deep/2"):
        open(name, "w").write(name)
    fs.put("here", "training/there", recursive=True)
    fs.get("training/there", "back", recursive=True)
    assert open("back/deep/2").read() == "here/deep/2"

@operation
def merge():
    fs.pipe({{"training/p1": b"one", "training/p2": b"two"}})
    fs.merge("training/whole", ["training/p1", "training/p2"])
    assert fs.cat_file("training/whole") == b"onetwo"

@operation
def with_the_probe_for_its_layout_a_bucket_is_flat():
    import logging
    from gcsfs.extended_gcsfs import BucketType, ExtendedGcsFileSystem

    logging.getLogger("google").setLevel(logging.ERROR)
    asking = ExtendedGcsFileSystem(project="demo-project", token="anon", endpoint_url=url, retry_timeout=1)
    assert asking._sync_lookup_bucket_type("training") == BucketType.UNKNOWN
    assert asking.cat_file("training/whole") == b"onetwo"

@operation
def remove_everything():
    fs.rm("training", recursive=True)
    assert not fs.exists("training")
"""


def test_gcsfs_does_what_is_expected(cloud, home):
    """Its probe for a hierarchical namespace is off in the environment: it asks over gRPC with TLS.

    Where it asks nevertheless it gets no answer, and takes the bucket for a flat one.
    """
    wanted = expected("gcsfs")
    python = venv("gcsfs", wanted.install) / "python"
    done = play([python, "-c", PROGRAM], cloud, home)
    assert differences(wanted, of_lines(done.stdout)) == [], done.stderr
