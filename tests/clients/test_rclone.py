"""rclone, as Debian has it."""

import subprocess
from pathlib import Path

from tests.clients.lane import asked, play, program
from tests.clients.outcomes import differences, expected

pytestmark = asked

LARGE = 3_000_000


def remote(url: str) -> dict[str, str]:
    """The settings of the remote `cloud:`, for a bucket with uniform access and nobody's credentials."""
    settings = {
        "TYPE": "google cloud storage",
        "ENDPOINT": f"{url}/storage/v1/",
        "ANONYMOUS": "true",
        "BUCKET_POLICY_ONLY": "true",
        "PROJECT_NUMBER": "demo-project",
    }
    own = {f"RCLONE_CONFIG_CLOUD_{name}": value for name, value in settings.items()}
    return {**own, "RCLONE_CONFIG": "rclone.conf", "RCLONE_RETRIES": "1"}


def prepare(home: Path) -> None:
    """A folder to copy: names with spaces, accents and percent signs, an empty file and a large one."""
    (home / "rclone.conf").touch()
    (home / "here/deep").mkdir(parents=True)
    (home / "here/a b%.txt").write_text("one")
    (home / "here/deep/é.txt").write_text("two")
    (home / "here/empty").write_bytes(b"")
    (home / "here/large").write_bytes(b"x" * LARGE)


FILES = ["a b%.txt", "deep/é.txt", "empty", "large"]

OPERATIONS = {
    "mkdir": (["mkdir", "cloud:files"], ""),
    "copy": (["copy", "here", "cloud:files/there"], ""),
    "check": (["check", "here", "cloud:files/there", "--download"], ""),
    "lsf": (["lsf", "-R", "--files-only", "cloud:files/there"], "".join(f"{name}\n" for name in FILES)),
    "size": (["size", "cloud:files", "--json"], '{"count":4,"bytes":3000006,"sizeless":0}\n'),
    "cat": (["cat", "cloud:files/there/deep/é.txt"], "two"),
    "hashsum": (["md5sum", "cloud:files/there/empty"], "d41d8cd98f00b204e9800998ecf8427e  empty\n"),
    "copyto": (["copyto", "cloud:files/there/large", "back"], ""),
    "move": (["move", "cloud:files/there/deep", "cloud:files/moved"], ""),
    "sync": (["sync", "here", "cloud:files/there"], ""),
    "delete": (["delete", "cloud:files/moved"], ""),
    "purge": (["purge", "cloud:files"], ""),
}


def outcome(done: subprocess.CompletedProcess[str], wanted: str) -> str:
    """Whether it ended well, and printed what it should."""
    return "passed" if (done.returncode, done.stdout) == (0, wanted) else f"{done.stdout}{done.stderr}"


def test_rclone_does_what_is_expected(cloud, home):
    """Each operation works on what the ones before it have left."""
    rclone = program("rclone")
    prepare(home)
    settings = remote(cloud["STORAGE_EMULATOR_HOST"])
    outcomes = {}
    for name, (words, wanted) in OPERATIONS.items():
        outcomes[name] = outcome(play([rclone, *words], cloud, home, more=settings), wanted)
    assert differences(expected("rclone"), outcomes) == []
    assert (home / "back").stat().st_size == LARGE
