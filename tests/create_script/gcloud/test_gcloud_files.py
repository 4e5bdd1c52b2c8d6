"""Files that flags name, and where we refuse what gcloud spoils."""

import json

import pytest

from spotwarden.create_script.gcloud.files import MOST_READ
from spotwarden.create_script.refusal import ScriptRefused

DISKS = "https://www.googleapis.com/compute/v1/projects/demo-project/zones/us-central1-a/disks/"
CREATE = ("compute", "instances", "create", "vm")
KEY = "acXTX3rxrKAFTF0tYVLvydU1riRZTvUNC4g5I11NY+c="


def key_file(**keys):
    """Write a key file: disk → key."""
    return json.dumps(
        [{"uri": DISKS + disk, "key": key, "key-type": "raw"} for disk, key in keys.items()]
    ).encode()


def test_a_flags_file_stands_for_its_flags(create):
    """A dictionary, or a list of them when a flag comes twice."""
    files = {"f": b"--machine-type: e2-small\n--no-address:\n--tags: [a, 'b,c']\n"}
    assert create("--flags-file=f", files=files) == create(
        "--machine-type=e2-small", "--no-address", "--tags=^;^a;b,c"
    )


def test_a_flags_file_may_name_others(create):
    """Their flags stand where it named them."""
    files = {"f": b"--flags-file: [g, h]\n", "g": b"--preemptible:\n", "h": b"- --no-address:\n"}
    assert create("--flags-file", "f", files=files) == create("--preemptible", "--no-address")


def test_the_flags_files_of_one_script_are_read_up_to_a_number_of_characters(create):
    """YAML takes ten microseconds a character, so fifty large files would take a function's half minute."""
    files = {"half": b"--preemptible: # " + b"x" * 24_000 + b"\n"}
    assert create("--flags-file=half", "--flags-file=half", files=files)["scheduling"]["preemptible"] is True
    with pytest.raises(ScriptRefused, match="more than 50000 characters of YAML"):
        create("--flags-file=half", "--flags-file=half", "--flags-file=half", files=files)


def test_the_files_of_one_script_are_read_up_to_a_number_of_bytes(create):
    """A large file that is named a thousand times would fill a function's memory."""
    files = {"half": b"x" * (MOST_READ // 2), "more": b"x" * (MOST_READ // 2 + 1)}
    body = create("--metadata-from-file=a=half,b=half", files=files)
    assert len(body["metadata"]["items"]) == len("ab")
    with pytest.raises(ScriptRefused, match=f"more than {MOST_READ} bytes that are read of the files"):
        create("--metadata-from-file=a=half,b=more", files=files)


@pytest.mark.parametrize(
    ("given", "sent"), [("ns={}", None), ("ns/a=1", {"entries": {}}), ('ns={"entries": {}}', {"entries": {}})]
)
def test_a_namespace_without_entries_is_sent_as_null(send, given, sent):
    """As gcloud does; what stands beside the entries is lost."""
    (request,) = send(["beta", *CREATE, f"--partner-metadata={given}"])
    assert request.body["partnerMetadata"] == {"ns": sent}


def test_json_of_partners_is_read_up_to_the_same_number_of_characters_as_yaml(send):
    """Three characters make an object of a hundred bytes."""
    files = {"p": b'{"a": {"b": "c"}}' + b" " * 50_000}
    with pytest.raises(ScriptRefused, match="more than 50000 characters of YAML and JSON"):
        send(["alpha", *CREATE, "--partner-metadata-from-file=p"], files=files)


def test_a_switch_in_a_flags_file_is_on_whatever_stands_behind_it(create):
    """Gcloud looks at neither true nor false; any other word is refused."""
    for text in (b"--preemptible: false", b"--preemptible: true", b"--preemptible:"):
        assert create("--flags-file=f", files={"f": text})["scheduling"]["preemptible"] is True
    with pytest.raises(ScriptRefused, match="is a switch"):
        create("--flags-file=f", files={"f": b"--preemptible: yes"})


def test_metadata_in_a_flags_file_must_be_texts(create):
    """A number breaks gcloud off; yes is a text in YAML 1.2."""
    body = create("--flags-file=f", files={"f": b"--metadata:\n  a: 'x, y'\n  b: yes\n"})
    assert body["metadata"] == {"items": [{"key": "a", "value": "x, y"}, {"key": "b", "value": "yes"}]}
    with pytest.raises(ScriptRefused, match="quotes"):
        create("--flags-file=f", files={"f": b"--metadata:\n  a: 1\n"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "must hold a dictionary"),
        (b"just text", "must hold a dictionary"),
        (b"--tags: [a", "is not valid YAML"),
        (b"--tags: a\n--tags: b\n", "twice"),
        (b"--termination-time: 2031-01-01\n", "without quotes"),
        (b"\xff", "not UTF-8"),
        (b"--nope: x", "unknown flag"),
    ],
)
def test_a_flags_file_that_gcloud_cannot_read_is_refused(text, reason, create):
    """The refusal names the file or the flag."""
    with pytest.raises(ScriptRefused, match=reason):
        create("--flags-file=f", files={"f": text})


SPOILED = {
    "a folded text gets bell characters": ("--flags-file", "--metadata:\n  a: >\n    x\n    y\n"),
    "a key without a value becomes the name None": ("--flags-file", "--network-interface:\n  subnet:\n"),
    "a text is cut into its letters": ("--node-affinity-file", "- key: team\n  values: vision\n"),
    "the first of two keys counts": ("--node-affinity-file", "- key: a\n  key: b\n"),
}


@pytest.mark.parametrize(("flag", "text"), SPOILED.values(), ids=SPOILED)
def test_what_gcloud_spoils_without_a_word_is_refused(flag, text, create):
    """Nobody can have meant what it sends then."""
    with pytest.raises(ScriptRefused):
        create(f"{flag}=f", files={"f": text.encode()})


def test_a_metadata_file_is_text_with_line_feeds(create):
    """Nothing else changes; a final line end stays, a byte order mark, too."""
    body = create("--metadata-from-file=a=x", files={"x": "\ufeffé\r\nb\n".encode()})
    assert body["metadata"]["items"] == [{"key": "a", "value": "\ufeffé\nb\n"}]


def test_a_file_is_found_by_any_way_of_writing_its_path(create):
    """As long as it stays below the folder of the script."""
    files = {"boot/first.sh": b"x"}
    for path in ("boot/first.sh", "./boot/first.sh", "boot/../boot//first.sh"):
        assert create(f"--metadata-from-file=a={path}", files=files)["metadata"]["items"][0]["value"] == "x"


@pytest.mark.parametrize("path", ["first.sh", "~/boot/first.sh", "../boot/first.sh", "boot", "-", ""])
def test_a_file_that_is_not_with_the_script_is_refused_by_name(path, create):
    """Neither home folders nor standard input are there when the script is re-run."""
    with pytest.raises(ScriptRefused, match="not with the script"):
        create(f"--metadata-from-file=a={path}", files={"boot/first.sh": b"x"})


def test_a_key_may_stand_in_one_of_the_two_metadata_flags_only(create):
    """Gcloud would not know which one counts."""
    with pytest.raises(ScriptRefused, match="is also in --metadata"):
        create("--metadata=a=1", "--metadata-from-file=a=x", files={"x": b""})


def test_a_key_file_encrypts_the_boot_disk_and_names_it(create):
    """The disk gets the name of the machine, since the key is for that name."""
    disk = create("--csek-key-file=k", files={"k": key_file(vm=KEY)})["disks"][0]
    assert (disk["deviceName"], disk["diskEncryptionKey"]) == ("vm", {"rawKey": KEY})


@pytest.mark.parametrize("source", ["--source-instance-template=t", "--machine-type=e2-small"])
def test_the_key_file_is_read_also_where_no_disk_is_made(create, source):
    """Gcloud fails where it is missing, whoever says what disks there are."""
    with pytest.raises(ScriptRefused, match="--csek-key-file"):
        create("--csek-key-file=missing.json", source)
    create("--csek-key-file=k", source, files={"k": key_file(vm=KEY)})


def test_a_key_file_without_a_key_for_the_boot_disk_is_refused_unless_none_is_required(create):
    """--no-require-csek-key-create leaves the disk to Google's own keys."""
    files = {"k": key_file(other=KEY)}
    with pytest.raises(ScriptRefused, match="no key for"):
        create("--csek-key-file=k", files=files)
    assert (
        "diskEncryptionKey"
        not in create("--csek-key-file=k", "--no-require-csek-key-create", files=files)["disks"][0]
    )


@pytest.mark.parametrize(
    "text",
    [
        b"{}",
        b"nonsense",
        b'[{"uri": "x"}]',
        key_file(vm="short="),
        key_file(vm=KEY).replace(b"raw", b"rsa-encrypted"),
    ],
)
def test_a_key_file_that_is_wrong_is_refused(text, create):
    """Form, length and kind of the keys are checked."""
    with pytest.raises(ScriptRefused, match="--csek-key-file"):
        create("--csek-key-file=k", files={"k": text})


def test_an_environment_file_comes_before_the_variables_of_the_flags(send):
    """A later value takes the place of the earlier one."""
    argv = ["compute", "instances", "create-with-container", "vm", "--container-image=i", "--image=cos-1"]
    argv += ["--container-env-file=e", "--container-env=B=3,C=4"]
    (request,) = send(argv, files={"e": b"# settings\nA=1\n  B=2\n"})
    declared = request.body["metadata"]["items"][0]["value"]
    variables = declared[declared.index("env:") : declared.index("image:")].split()
    assert variables[3::5] == ["A", "B", "C"]
    assert variables[5::5] == ["'1'", "'3'", "'4'"]
