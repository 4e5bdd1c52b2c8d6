"""What is read as a type of ours: in any thread, and however it is malformed."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from spotwarden import typed
from tests.typed.first_use import FirstUse, watched

ROOT = Path(__file__).parents[2]
PRODUCT = sorted([*(ROOT / "shared").rglob("*.py"), *(ROOT / "functions").rglob("*.py")])
READERS = {"decoded": 2, "decode": 1, "typed.decode": 1, "typed.unpack": 1, "typed.convert": 1}
"""What reads a type of ours, and which argument names it."""
HANDED_ON = {"kind", "form", "_TYPES[name]"}
"""Arguments that carry a type which somebody else has named."""

RACE = """
import sys, threading, types
import msgspec
from spotwarden import typed

sys.setswitchinterval(1e-6)
FIELDS = "".join(f"    f{number}: 'dict[str, int | None]' = {{}}\\n" for number in range(6))

def fresh(number):
    module = types.ModuleType(f"fresh{number}")
    sys.modules[module.__name__] = module
    source = "import msgspec\\n"
    for depth in range(8):
        child = f"    child: 'list[S{depth - 1}] | None' = None\\n" if depth else ""
        source += f"class S{depth}(msgspec.Struct):\\n{FIELDS}{child}"
    exec(source, module.__dict__)
    return module.S7

for number in range(40):
    kind, barrier = fresh(number), threading.Barrier(16)

    def read():
        barrier.wait()
        DECODE

    threads = [threading.Thread(target=read) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("read")
"""
BODY = """b'{"f1": {"a": 1}, "child": [{"f2": {}}]}'"""


@pytest.fixture(autouse=True)
def _nobody_watches(monkeypatch):
    """These tests build types themselves."""
    if isinstance(typed._build, FirstUse):
        monkeypatch.setattr(typed, "_build", typed._build.build)


class Held(msgspec.Struct):
    """A type with a text, a number and a table."""

    text: str = ""
    table: dict[str, float] = {}


def run_race(how: str) -> subprocess.CompletedProcess[str]:
    """Sixteen threads behind a barrier read forty types that nobody has read before."""
    source = RACE.replace("DECODE", how)
    return subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize(
    "how",
    [
        f"typed.decode({BODY}, kind)",
        "typed.convert({'f1': {'a': 1}, 'child': [{'f2': {}}]}, kind)",
        "typed.unpack(msgspec.msgpack.encode({'f1': {'a': 1}, 'child': [{'f2': {}}]}), kind)",
    ],
    ids=["decode", "convert", "unpack"],
)
def test_a_type_that_many_threads_use_first_at_the_same_time_ends_no_process(how):
    """By itself msgspec ends such a process by SIGSEGV."""
    done = run_race(how)
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr[-2000:]


MALFORMED = {
    "nothing": b"",
    "half": b"{",
    "a word": b"nothing",
    "no UTF-8": b"\xff",
    "deep": b"[" * 200_000,
    "deep where nobody looks": b'{"unknown": ' + b"[" * 200_000,
    "a text that is no UTF-8": b'{"text": "\xff"}',
    "a key that is no UTF-8": b'{"table": {"\xff": 1}}',
    "half a character": '{"text": "\ud800"}',
    "another type": b'{"text": 7}',
    "no number": b'{"table": {"a": NaN}}',
    "too large": b'{"table": {"a": 1e999}}',
    "a list": b"[]",
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_malformed_json_is_one_error_however_it_is_malformed(body):
    """What is nested too deeply, and what is no UTF-8, is refused as any text that is not valid JSON."""
    with pytest.raises(msgspec.DecodeError):
        typed.decode(body, Held)


def test_malformed_messagepack_is_the_same_error():
    """A text in it that is no UTF-8, and one that is nested too deeply."""
    for body in (b"\x81\xa4text\xa1\xff", b"\x91" * 200_000, b""):
        with pytest.raises(msgspec.DecodeError):
            typed.unpack(body, dict[str, str] if body.startswith(b"\x81") else object)


def test_a_key_that_is_there_twice_counts_as_it_was_said_last():
    """As every JSON reader of Google's has it."""
    assert typed.decode(b'{"text": "a", "text": "b"}', Held).text == "b"


def test_every_type_is_read_through_the_one_door():
    """No other module of the product has msgspec build anything."""
    found = [
        f"{file.relative_to(ROOT)}:{call.lineno}: {said}"
        for file in PRODUCT
        if file.name != "typed.py"
        for call, said in calls(file)
        if said in ("msgspec.convert", "msgspec.msgpack.decode")
        or said.endswith(("Decoder", "Encoder"))
        or (said == "msgspec.json.decode" and (len(call.args) > 1 or call.keywords))
    ]
    assert found == []


def test_every_type_is_prepared_at_the_import_of_the_module_that_reads_it():
    """So none is built in a pool."""
    missing = []
    for file in PRODUCT:
        named = {
            ast.unparse(call.args[READERS[said]])
            for call, said in calls(file)
            if said in READERS and len(call.args) > READERS[said]
        }
        prepared = {ast.unparse(kind) for kind in prepared_in(file)}
        if late := named - HANDED_ON - prepared:
            missing.append((str(file.relative_to(ROOT)), late))
    assert [row for row in missing if not row[0].endswith("spotwarden/typed.py")] == []


def test_a_type_that_is_first_used_in_a_pool_is_found():
    """The watch over all tests of functions and commands sees it, and nothing that was prepared."""

    class Late(msgspec.Struct):
        """Nobody has named it to `prepare`."""

    Late.__module__ = Late.__qualname__ = "late"
    typed.prepare(int)
    with watched() as first_use, ThreadPoolExecutor(1) as pool:
        pool.submit(typed.decode, b"1", int).result()
        assert first_use.late == []
        pool.submit(typed.decode, b"{}", Late).result()
    assert len(first_use.late) == 1
    assert "ThreadPoolExecutor" in first_use.late[0]


def calls(file: Path) -> Iterator[tuple[ast.Call, str]]:
    """Every call in this file, with the name that is called."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield node, ast.unparse(node.func)


def prepared_in(file: Path) -> Iterator[ast.expr]:
    """What this module names to `prepare` at its import."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Expr) and ast.unparse(node.value).startswith("typed.prepare("):
            assert isinstance(node.value, ast.Call)
            yield from node.value.args
