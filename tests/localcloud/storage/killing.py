"""A local cloud that is killed while writers write, and what must then be there."""

import base64
import json
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import google_crc32c

PLAIN, VERSIONED = "plain-bucket", "versioned-bucket"
PIECE = 256 << 10
SIZES = (0, 10, 1000, 70_000)
NAMES = 8
"""Of each writer, in each bucket: few, so that most writes overwrite or delete something."""
MOST_VERSIONS = 4
START_SECONDS = 120


@dataclass(frozen=True)
class Version:
    """What is known of one generation."""

    crc: str
    note: str = ""
    live: bool = True


Versions = Mapping[int, Version]
Key = tuple[str, str]
"""Bucket and name."""


@dataclass
class Trying:
    """A call under way: what the key will have, by the generation that the call makes, if it makes one."""

    key: Key
    after: Callable[[int], Versions]
    makes: bool


class Server:
    """`spotwarden local serve --state`, in a process of its own."""

    def __init__(self, state: Path) -> None:
        command = [str(Path(sys.executable).with_name("spotwarden")), "local", "serve", "--no-machines"]
        self._process = subprocess.Popen(
            [*command, "--project", "p", "--state", str(state)], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.address = urlsplit(json.loads(self._process.stdout.readline())["http"]).netloc

    def kill(self) -> None:
        """End it at whatever it is doing."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(timeout=60)
        assert self._process.stdout is not None
        self._process.stdout.close()


class Calls:
    """One kept connection."""

    def __init__(self, address: str) -> None:
        self._connection = HTTPConnection(address, timeout=60)
        self.headers: Mapping[str, str] = {}

    def __call__(self, verb: str, path: str, body: Any = None, **headers: str) -> bytes:
        """The content of an answer; 409 and 308 are fine."""
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        kind = {"content-type": "application/json"} if isinstance(body, dict) else {}
        self._connection.request(verb, path, data, {**kind, **headers})
        answer = self._connection.getresponse()
        self.headers = dict(answer.headers)
        content = answer.read()
        assert answer.status < 309 or answer.status == 409, (verb, path, content)
        return content

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


@dataclass
class Writer:
    """Writes, overwrites, copies, annotates and deletes objects of its own until the server is gone."""

    number: int
    dice: random.Random
    known: dict[Key, Versions] = field(default_factory=dict)
    newest: int = 0
    trying: Trying | None = None

    def run(self, address: str, acknowledged: Callable[[], None]) -> None:
        """Go on until the connection breaks; what was tried then may have happened."""
        calls = Calls(address)
        try:
            while True:
                self._step(calls)
                acknowledged()
        except (OSError, HTTPException):
            return
        finally:
            calls.close()

    def _step(self, calls: Calls) -> None:
        key = self._key()
        versions = self.known.get(key, {})
        old = [generation for generation, version in versions.items() if not version.live]
        live = any(version.live for version in versions.values())
        if len(versions) > MOST_VERSIONS:
            self._forget(calls, key, self.dice.choice(old))
        elif live:
            steps = (self._write, self._write, self._annotate, self._delete, self._copy)
            self.dice.choice([*steps, self._send, self._send_in_parts])(calls, key)
        else:
            self.dice.choice([self._write, self._send, self._send_in_parts])(calls, key)

    def _key(self) -> Key:
        name = f"w{self.number}/{self.dice.randrange(NAMES)}"
        return self.dice.choice([PLAIN, VERSIONED]), name

    def _write(self, calls: Calls, key: Key) -> None:
        content = self.dice.randbytes(self.dice.choice(SIZES))
        self._try(key, self._written(key, crc_of(content)), makes=True)
        self._done(calls("POST", f"{_upload(key)}&uploadType=media", content))

    def _send(self, calls: Calls, key: Key) -> None:
        """A resumable upload in two pieces."""
        content = self.dice.randbytes(PIECE + self.dice.randrange(1, 1000))
        self._try(key, self._written(key, crc_of(content)), makes=True)
        calls("POST", f"{_upload(key)}&uploadType=resumable", {})
        place = urlsplit(calls.headers["location"])
        path, total = f"{place.path}?{place.query}", len(content)
        calls("PUT", path, content[:PIECE], **{"content-range": f"bytes 0-{PIECE - 1}/*"})
        span = f"bytes {PIECE}-{total - 1}/{total}"
        self._done(calls("PUT", path, content[PIECE:], **{"content-range": span}))

    def _send_in_parts(self, calls: Calls, key: Key) -> None:
        """A multipart upload of the XML API; one part is as small as it likes to be."""
        content = self.dice.randbytes(self.dice.choice(SIZES))
        self._try(key, self._written(key, crc_of(content)), makes=True)
        complete_parts(calls, key, begin_parts(calls, key), {1: content})
        told = json.dumps({"generation": calls.headers["x-goog-generation"]})
        self._done(told.encode())

    def _copy(self, calls: Calls, key: Key) -> None:
        target = self._key()
        crc = next(version.crc for version in self.known[key].values() if version.live)
        note = next(version.note for version in self.known[key].values() if version.live)
        self._try(target, self._written(target, crc, note), makes=True)
        self._done(calls("POST", f"{_object(key)}/copyTo{_object(target).removeprefix('/storage/v1')}", {}))

    def _annotate(self, calls: Calls, key: Key) -> None:
        note, versions = str(self.dice.randrange(10**9)), self.known[key]

        def after(_generation: int) -> Versions:
            return {
                generation: Version(version.crc, note, live=True) if version.live else version
                for generation, version in versions.items()
            }

        self._try(key, after, makes=False)
        self._done(calls("PATCH", _object(key), {"metadata": {"note": note}}))

    def _delete(self, calls: Calls, key: Key) -> None:
        kept = self._retired(key)
        self._try(key, lambda _generation: kept, makes=False)
        self._done(calls("DELETE", _object(key)))

    def _forget(self, calls: Calls, key: Key, gone: int) -> None:
        left = {generation: version for generation, version in self.known[key].items() if generation != gone}
        self._try(key, lambda _generation: left, makes=False)
        self._done(calls("DELETE", f"{_object(key)}?generation={gone}"))

    def _retired(self, key: Key) -> Versions:
        """What is left when the live generation goes."""
        versions = self.known.get(key, {})
        if key[0] == PLAIN:
            return {}
        return {
            generation: Version(version.crc, version.note, live=False)
            for generation, version in versions.items()
        }

    def _written(self, key: Key, crc: str, note: str = "") -> Callable[[int], Versions]:
        retired = self._retired(key)
        return lambda generation: {**retired, generation: Version(crc, note)}

    def _try(self, key: Key, after: Callable[[int], Versions], *, makes: bool) -> None:
        self.trying = Trying(key, after, makes)

    def _done(self, answer: bytes) -> None:
        assert self.trying is not None
        generation = int(json.loads(answer)["generation"]) if self.trying.makes else 0
        if self.trying.makes:
            assert generation > self.newest, "a generation came a second time"
            self.newest = generation
        self.known[self.trying.key] = self.trying.after(generation)
        self.trying = None

    def settle(self, found: Mapping[Key, Versions]) -> list[str]:
        """Compare with what there is: everything confirmed, and what was tried last wholly or not at all."""
        wrong = []
        for key in {*self.known, *(key for key in found if key[1].startswith(f"w{self.number}/"))}:
            there, before = found.get(key, {}), self.known.get(key, {})
            if there != before and not self._happened(key, there):
                wrong.append(f"{key}: {there} is not {before}, and {self.trying} does not explain it")
            self.known[key] = there
        self.trying = None
        return wrong

    def _happened(self, key: Key, there: Versions) -> bool:
        if self.trying is None or self.trying.key != key:
            return False
        new = max(there, default=0)
        if self.trying.makes and new <= self.newest:
            return False
        self.newest = max(self.newest, new)
        return there == self.trying.after(new)


def crc_of(content: bytes) -> str:
    """As `crc32c` has it, which every object has, composed or sent in parts as well."""
    return base64.b64encode(google_crc32c.value(content).to_bytes(4)).decode()


def begin_parts(calls: Calls, key: Key) -> str:
    """The id of a new multipart upload."""
    begun = calls("POST", f"{_path(key)}?uploads").decode()
    return begun.partition("<UploadId>")[2].partition("<")[0]


def send_part(calls: Calls, key: Key, upload: str, number: int, content: bytes) -> str:
    """Send a part; its entity tag."""
    calls("PUT", f"{_path(key)}?partNumber={number}&uploadId={upload}", content)
    return calls.headers["etag"]


def complete_parts(
    calls: Calls, key: Key, upload: str, contents: Mapping[int, bytes], tags: Mapping[int, str] | None = None
) -> None:
    """Send these parts, and complete the upload with them and those that were sent before."""
    sent = {number: send_part(calls, key, upload, number, content) for number, content in contents.items()}
    listed = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>"
        for number, tag in sorted({**(tags or {}), **sent}.items())
    )
    body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>"
    calls("POST", f"{_path(key)}?uploadId={upload}", body.encode())


def _path(key: Key) -> str:
    return f"/{key[0]}/{quote(key[1])}"


def _upload(key: Key) -> str:
    return f"/upload/storage/v1/b/{key[0]}/o?name={quote(key[1], safe='')}"


def _object(key: Key) -> str:
    return f"/storage/v1/b/{key[0]}/o/{quote(key[1], safe='')}"


def prepare(address: str) -> None:
    """Make the two buckets, if they are not there."""
    calls = Calls(address)
    for bucket in (PLAIN, VERSIONED):
        settings = {"name": bucket, "versioning": {"enabled": bucket == VERSIONED}}
        calls("POST", "/storage/v1/b?project=p", settings)
    calls.close()


def everything(address: str) -> dict[Key, dict[int, Version]]:
    """Every generation of every object."""
    calls, found = Calls(address), dict[Key, dict[int, Version]]()
    for bucket in (PLAIN, VERSIONED):
        for item in _items(calls, f"/storage/v1/b/{bucket}/o?versions=true"):
            version = Version(
                item["crc32c"], item.get("metadata", {}).get("note", ""), live="timeDeleted" not in item
            )
            found.setdefault((bucket, item["name"]), {})[int(item["generation"])] = version
    calls.close()
    return found


def torn(address: str, found: Mapping[Key, Versions], dice: random.Random, samples: int) -> list[str]:
    """The objects, of some, whose content is not what their row says."""
    calls, wrong = Calls(address), []
    every = [(key, generation) for key, versions in found.items() for generation in versions]
    for key, generation in dice.sample(every, min(samples, len(every))):
        content = calls("GET", f"/download{_object(key)}?alt=media&generation={generation}")
        if crc_of(content) != found[key][generation].crc:
            wrong.append(f"{key} {generation}: the content is not its own")
    calls.close()
    return wrong


def _items(calls: Calls, path: str) -> Iterator[dict[str, Any]]:
    token = ""
    while True:
        page = json.loads(calls("GET", f"{path}&pageToken={quote(token)}"))
        yield from page.get("items", ())
        token = page.get("nextPageToken", "")
        if not token:
            return


@dataclass
class Counter:
    """Acknowledged writes, and whoever waits for them."""

    count: int = 0
    more: threading.Condition = field(default_factory=threading.Condition)

    def add(self) -> None:
        """One more."""
        with self.more:
            self.count += 1
            self.more.notify_all()

    def wait(self, until: int) -> None:
        """Return once there are so many."""
        with self.more:
            assert self.more.wait_for(lambda: self.count >= until, timeout=START_SECONDS)


@dataclass(frozen=True)
class Ordeal:
    """What came of it: acknowledged writes, kills, calls that a kill cut off, and all that was wrong."""

    writes: int
    kills: int
    cut: int
    wrong: list[str]


def ordeal(state: Path, *, writes: int, kills: int, writers: int = 4, seed: int = 7) -> Ordeal:
    """Kill a local cloud again and again until there were so many acknowledged writes."""
    dice, counter, wrong, cut = random.Random(seed), Counter(), list[str](), 0
    hands = [Writer(number, random.Random(seed + number)) for number in range(writers)]
    for kill in range(kills):
        server = Server(state)
        prepare(server.address)
        threads = [
            threading.Thread(target=hand.run, args=(server.address, counter.add), daemon=True)
            for hand in hands
        ]
        for thread in threads:
            thread.start()
        share = (kill + 1) * writes // kills
        counter.wait(share + dice.randrange(10))
        server.kill()
        for thread in threads:
            thread.join(timeout=60)
            assert not thread.is_alive()
        cut += sum(hand.trying is not None for hand in hands)
        wrong += _looked_at(state, hands, dice)
        if wrong:
            break
    return Ordeal(counter.count, kill + 1, cut, wrong)


def _looked_at(state: Path, hands: list[Writer], dice: random.Random) -> list[str]:
    server = Server(state)
    try:
        prepare(server.address)
        found = everything(server.address)
        wrong = [text for hand in hands for text in hand.settle(found)]
        wrong += torn(server.address, found, dice, samples=20)
        files = len(list((state / "storage/content").iterdir()))
        generations = sum(map(len, found.values()))
        # An upload that a kill cut off may go on, so its file stays: there may be more.
        if files < generations:
            wrong.append(f"{files} files for {generations} generations")
    finally:
        server.kill()
    return wrong
