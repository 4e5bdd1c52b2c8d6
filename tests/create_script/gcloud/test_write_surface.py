"""The table of flags comes out of gcloud's own parser."""

import json
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from spotwarden.create_script.gcloud.surface_table import TABLE
from spotwarden.model.gcloud import OLDEST

PROGRAM = Path(__file__).parents[3] / "infra/gcloud/write_surface.py"


def program():
    """Load the writer, which is a program and no module of the package."""
    spec = spec_from_file_location("write_surface", PROGRAM)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WRITER = program()


def flag(*, choices=(), keys=(), default=None, negatable=False):
    """A flag as the reader of an SDK tells it."""
    return {"choices": list(choices), "keys": list(keys), "default": default, "negatable": negatable}


def sdk(v1, beta, *, fields=("name",), commands=("list",), preview=None):
    """What one SDK has of a single create command, alpha as beta."""
    tracks = {"v1": {"c": v1}, "beta": {"c": beta}, "alpha": {"c": beta}}
    if preview is not None:
        tracks["preview"] = {"c": preview}
    return {"flags": tracks, "commands": {"compute": list(commands)}, "fields": list(fields)}


def rows(*sdks, later=()):
    """The rows for SDKs of the versions 1, 2 and so on."""
    return list(WRITER.rows(dict(enumerate(sdks, 1)), later))


def test_a_flag_has_a_column_for_each_track():
    """And its negation and default, where it has them."""
    found = rows(sdk({}, {"x": flag(default=False, negatable=True)}))
    assert "flag x 1:,c,c negatable default=false" in found


def test_what_comes_and_goes_is_written_with_the_versions():
    """A version in which nothing changes is not named."""
    found = rows(
        sdk({}, {"x": flag()}), sdk({}, {"x": flag()}), sdk({"x": flag()}, {"x": flag()}), sdk({}, {})
    )
    assert "flag x 1:,c,c 3:c,c,c 4:,," in found


def test_words_and_keys_have_rows_of_their_own():
    """Each with where it came."""
    old = {"m": flag(choices=["A"], keys=["k"])}
    new = {"m": flag(choices=["A", "B"], keys=["k", "l"])}
    found = rows(sdk(old, old), sdk(new, new))
    assert {"choice m A 1:c,c,c", "choice m B 2:c,c,c", "key m k 1:c,c,c", "key m l 2:c,c,c"} <= set(found)


def test_fields_that_came_later_are_told_apart_from_those_no_gcloud_has():
    """What the oldest can send needs no row."""
    found = rows(
        sdk({}, {}, fields=["a"]), sdk({}, {}, fields=["a", "b"]), later=["a", "b", "c", "c.seconds"]
    )
    assert [row for row in found if row.startswith("field")] == ["field b 2", "field c"]


def test_a_default_that_moved_ends_the_program():
    """The table has no room for it: somebody has to look."""
    with pytest.raises(SystemExit, match="--x: versions, tracks or commands differ"):
        rows(sdk({"x": flag(default="a")}, {}), sdk({"x": flag(default="b")}, {}))


def test_a_preview_track_of_its_own_ends_the_program():
    """The reader takes it for v1."""
    with pytest.raises(SystemExit, match="preview"):
        rows(sdk({"x": flag()}, {}, preview={}))


def test_output_only_fields_of_a_discovery_document_are_left_out():
    """No request sets them; one that names its own schema ends there."""
    document = {
        "schemas": {
            "Instance": {
                "properties": {
                    "id": {"description": "[Output Only] x"},
                    "scheduling": {"$ref": "Scheduling"},
                    "disks": {"items": {"$ref": "Instance"}},
                }
            },
            "Scheduling": {"properties": {"tier": {}}},
        }
    }
    assert WRITER.fields_of_document(document) == {"scheduling", "scheduling.tier", "disks"}


def test_the_installed_gcloud_has_what_the_table_says():
    """Read as the program reads it: all flags, words and keys of that version."""
    gcloud = shutil.which("gcloud")
    home = Path(gcloud).resolve().parents[1] if gcloud else Path()
    version = home / "VERSION"
    if not version.exists() or version.read_text().partition(".")[0] != str(OLDEST):
        pytest.skip(f"gcloud {OLDEST} is not installed: the table is not compared with it")
    reader = [sys.executable, "-B", str(PROGRAM.with_name("read_surface.py")), str(home)]
    found = json.loads(subprocess.run(reader, check=True, capture_output=True, text=True).stdout)
    ours = {
        " ".join(words)
        for line in TABLE.splitlines()
        if line.startswith(("flag", "choice", "key"))
        for words in [[word for word in line.split() if word[:3] != "578"]]
        if any(word.startswith(f"{OLDEST}:") for word in words)
    }
    theirs = WRITER.rows({OLDEST: found}, [])
    assert ours == {row for row in theirs if row.startswith(("flag", "choice", "key"))}
