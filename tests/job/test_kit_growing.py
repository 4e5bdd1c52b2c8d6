"""Files that a program goes on writing while they are uploaded."""

import select
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.job.serving import QuietHandler, serving

LONG = 8 * 1024 * 1024 + 1000
"""Bytes of a file of which curl has not read the end when the request's head arrives.

Its end is in the middle of a buffer of curl's: at the end of one curl would stop.
"""
GROWTH = b"one more row\n" * 8000
ABSENT_SECONDS = 2
"""How long to wait for bytes beyond the announced length; curl since 8.7 sends none."""


class StrictBucket:
    """A bucket that takes as many bytes as were announced; as over HTTP/2, more than that end in no answer.

    `growing` is appended to when its upload begins.
    """

    def __init__(self, growing: Path) -> None:
        self.held: dict[str, int] = {}
        outer = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"
            rbufsize = 0

            def do_POST(self) -> None:
                name = parse_qs(urlsplit(self.path).query)["name"][0]
                if name.endswith((growing.name, "/1.log")):
                    with growing.open("ab") as file:
                        file.write(GROWTH)
                length = left = int(self.headers["Content-Length"])
                while left:
                    left -= len(self.rfile.read(left))
                wait = ABSENT_SECONDS if length >= LONG else 0
                if select.select([self.connection], [], [], wait)[0]:
                    self.close_connection = True
                    return
                outer.held[name] = length
                self.answer_empty()

        self.handler = Handler


@pytest.fixture
def bucket(shell) -> Iterator[StrictBucket]:
    """The bucket, which the shell's functions speak to."""
    (shell.folder / "output").mkdir()
    served = StrictBucket(shell.folder / "output" / "rows.csv")
    with serving(served.handler) as address:
        shell.environment["STORAGE_EMULATOR_HOST"] = f"http://{address}"
        yield served


OPEN = """
BUCKET=jobs HERE=job NODE=vm ATTEMPT=1 OUTPUT=$PWD/output SENT_LIST=$PWD/sent TOKEN_UNTIL=9999999999
: >"$STATE/token"
open_bucket
"""


def test_a_file_that_grows_meanwhile_goes_up_as_long_as_it_was(shell, bucket):
    """Curl sends what it finds, which is more than it said; the files after it go up as well."""
    output = shell.folder / "output"
    (output / "a.txt").write_text("before")
    (output / "rows.csv").write_bytes(bytes(LONG))
    (output / "z.txt").write_text("after")
    shell.run(f"{OPEN} upload_output 60 9999999999")
    assert bucket.held == {"job/output/a.txt": 6, "job/output/rows.csv": LONG, "job/output/z.txt": 5}
    assert not list(shell.state.glob("as-seen*"))


def test_what_was_appended_goes_up_the_next_time(shell, bucket):
    """The file is remembered as it went up, and not as it is now."""
    rows = shell.folder / "output" / "rows.csv"
    rows.write_bytes(bytes(LONG))
    shell.run(f"{OPEN} upload_output 60 9999999999; upload_output 60 9999999999")
    assert bucket.held["job/output/rows.csv"] >= LONG + len(GROWTH)


def test_a_log_that_grows_meanwhile_goes_up_as_long_as_it_was(shell, bucket):
    """The program prints while its log is sent."""
    log = shell.folder / "output" / "rows.csv"
    log.write_bytes(bytes(LONG))
    shell.run(f"{OPEN} ln -s $OUTPUT/rows.csv 1.log; LOG=$PWD/1.log LOG_AT_MOST=$((1 << 30)); upload_log")
    assert bucket.held == {"job/metadata/logs/vm/1.log": LONG}
