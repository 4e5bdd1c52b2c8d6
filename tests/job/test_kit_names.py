"""Files of any name: kept under it where Cloud Storage can hold it, and given back under it in any case."""

import os
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings

from spotwarden.layout.outputs import file_path, object_path
from tests.job.shell import functions
from tests.long import examples
from tests.property.test_outputs import PATHS

NAMES = (
    b"two\nlines",
    b"ends with\n",
    b"re\rturn",
    b"caf\xe9.txt",
    b"\xff\xfe",
    b"half \xc3",
    b"-rf",
    b" blanks  and\ttab\t",
    b'it\'s "quoted" `$(touch hacked)`',
    b"..a",
    b"...",
    b"a\\b\\nc",
    b"100%",
    b"%0A",
    b"%25",
    b"%2525",
    b"%E9",
    b"a%20b",
    b"*?[x]{1,2}~",
    b"@",
    b"]",
    "日本 ä 😀".encode(),
    b"folder \n/\xe9/file",
    b"\x01\x7f",
    b"x" * 250,
    # Both sides of what is UTF-8: surrogates, forms that are too long, and what is beyond Unicode.
    *(b"\xed\x9f\xbf", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xee\x80\x80"),
    *(b"\xc1\xbf", b"\xc2\x80", b"\xe0\x9f\xbf", b"\xe0\xa0\x80", b"\xf0\x8f\xbf\xbf", b"\xf0\x90\x80\x80"),
    *(b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80"),
)
WHOLE = settings(
    max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def in_bash(function, paths, **environment):
    """What a function of the kit makes of each of these bytes."""
    script = f'{functions()}for word; do {function} "$word"; printf "%s\\0" "$REPLY"; done'
    done = subprocess.run(
        [b"bash", b"-c", script.encode(), b"kit", *paths],
        env={
            "PATH": os.environ["PATH"],
            "HOME": "/nowhere",
            "GCE_METADATA_HOST": "127.0.0.1:9",
            **environment,
        },
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.split(b"\0")[:-1]


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_the_kit_makes_the_same_names_as_the_command(locale):
    """Both ways, in any locale: what one has encoded the other decodes."""

    @WHOLE
    @given(PATHS.filter(bool), PATHS.filter(bool))
    def same(first, second):
        paths = [first, second, *NAMES]
        names = [object_path(path).encode() for path in paths]
        assert in_bash("object_path", paths, LC_ALL=locale) == names
        assert in_bash("file_path", names, LC_ALL=locale) == paths
        raw = [path for path in paths if path.decode(errors="replace").encode() == path]
        assert in_bash("file_path", raw, LC_ALL=locale) == [file_path(path.decode()) for path in raw]

    same()


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_what_json_escapes_is_read_in_any_locale(shell, locale):
    """A start-up script often has no locale, and the bytes are the same."""
    said = shell.run(
        'from_json "$1"; printf %s "$REPLY"', '"\\u00e9\\ud83d\\ude00\\u0026\\"\\\\n\\t/"', LC_ALL=locale
    )
    assert said == 'é😀&"\\n\t/'


MAKING = r"""
cd "$SPOTWARDEN_OUTPUT"
printf '%s,' "$NAMES_IN_HEX" | tr , '\n' | while read -r hex; do
  name=$(printf '%b.' "$(printf %s "$hex" | sed 's/../\\x&/g')")
  name=${name%.}
  case $name in */*) mkdir -p "./${name%/*}" ;; esac
  printf '%s' "$hex" > "./$name"
done
"""
LISTING = r"""
cd "$SPOTWARDEN_OUTPUT"
find . -type f -printf '%P\0' | od -An -v -tx1 | tr -d ' \n'
echo " all"
"""


def test_files_of_any_name_survive_a_job_and_its_next_attempt(lab):
    """Each is in the bucket with its bytes, and on the disk of the next attempt under its old name."""
    given = ",".join(name.hex() for name in NAMES)
    vm = lab.job(MAKING, spotwarden_env=f"NAMES_IN_HEX={given}")
    assert vm.status() == "0"
    assert set(lab.names(f"{vm.job}/output/")) == {object_path(name) for name in NAMES}
    for name in NAMES:
        assert vm.object(f"output/{object_path(name)}") == name.hex()
    vm.until_gone()
    lab.delete(f"{vm.job}/metadata/status-code")
    again = lab.job(LISTING, name=vm.name, attempt=2)
    assert again.status() == "0"
    listed = next(line for line in again.said.splitlines() if line.endswith(" all"))
    assert sorted(bytes.fromhex(listed.split()[0]).split(b"\0")[:-1]) == sorted(NAMES)


def test_a_name_that_no_object_can_have_is_told_and_the_job_has_not_succeeded(lab):
    """Its file stays on the VM's disk; all others are kept."""
    deep = "/".join(["d" * 200] * 6)
    vm = lab.job(f'cd "$SPOTWARDEN_OUTPUT"; mkdir -p {deep}; echo x > {deep}/x; echo y > y')
    assert vm.status() == "74"
    assert "longer than 1024 bytes" in vm.said
    assert lab.names(f"{vm.job}/output/") == ["y"]


COMPARING = """
OUTPUT=$PWD/output SENT_LIST=$PWD/sent HERE=job TRANSPORT=stub WHOLE=9999999999
may_write() { return 0; }
put() { echo "put $2"; [ -n "$LOSES" ] || echo "1	$2" >> bucket; }
list() { touch bucket; cp bucket "$2"; }
save_once; echo "answer $?"
"""


@pytest.mark.parametrize(("loses", "answer"), [("", 0), ("1", 4)])
def test_files_are_counted_at_both_ends(shell, loses, answer):
    """A bucket that takes a file and does not have it is no place for it: the status is 74."""
    (shell.folder / "output").mkdir()
    (shell.folder / "output/kept").touch()
    os.utime(shell.folder / "output/kept", (1, 1))
    said = shell.run(COMPARING, LOSES=loses)
    assert f"answer {answer}\n" in said
    assert ("1 of 1 output files are not in the bucket, such as job/output/kept" in said) is bool(loses)


def test_a_file_that_somebody_has_deleted_in_the_bucket_is_sent_once_more(shell):
    """It is still part of the output."""
    (shell.folder / "output").mkdir()
    (shell.folder / "output/kept").touch()
    os.utime(shell.folder / "output/kept", (1, 1))
    said = shell.run(f'LOSES=; {COMPARING} rm bucket; save_once; echo "answer $?"')
    assert said.count("put job/output/kept") == 2
    assert said.endswith("answer 0\n")
