"""What a file can reach by its imports, found without running it; and the packages that this needs."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.infra.clean_room import ROOT

sys.path.append(str(ROOT / "infra/staging"))

import needs
from reach import Reach, reach

NAMES = [row["name"] for row in yaml.safe_load((ROOT / "infra/functions.yaml").read_text())["functions"]]


def reached(folder: Path, entry: str, packages: Mapping[str, str]) -> Reach:
    """What this entry reaches of these modules of ours, given by name and text."""
    for name, text in packages.items():
        file = folder / "spotwarden" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        (file.parent / "__init__.py").touch()
    (folder / "spotwarden").mkdir(exist_ok=True)
    (folder / "spotwarden/__init__.py").touch()
    (folder / "main.py").write_text(entry)
    return reach(folder / "main.py", folder)


def names(found: Reach) -> set[str]:
    """The modules, without the packages they stand in."""
    return {str(one.relative_to("spotwarden")) for one in found.files if one.name != "__init__.py"}


@pytest.mark.parametrize(
    "line",
    [
        "import spotwarden.a",
        "from spotwarden import a",
        "from spotwarden.a import thing",
        "def late():\n    from spotwarden.a import thing",
        "if True:\n    import spotwarden.a as other",
    ],
)
def test_an_import_counts_wherever_and_however_it_is_written(tmp_path: Path, line: str):
    """Also one that is made on first use; what nobody imports stays out."""
    found = reached(tmp_path, line, {"a.py": "thing = 1", "b.py": ""})
    assert names(found) == {"a.py"}


def test_what_is_imported_brings_what_it_imports(tmp_path: Path):
    """To any depth, in circles too."""
    modules = {
        "a.py": "from spotwarden.deep.b import x",
        "deep/b.py": "import spotwarden.a\nx = 1",
        "c.py": "",
    }
    assert names(reached(tmp_path, "import spotwarden.a", modules)) == {"a.py", "deep/b.py"}


def test_a_package_brings_what_its_init_imports(tmp_path: Path):
    """Python runs it on the way to the module."""
    modules = {"deep/a.py": "", "b.py": ""}
    reached(tmp_path, "", modules)
    (tmp_path / "spotwarden/deep/__init__.py").write_text("import spotwarden.b")
    (tmp_path / "other.py").write_text("import spotwarden.deep.a")
    assert names(reach(tmp_path / "other.py", tmp_path)) == {"deep/a.py", "b.py"}


def test_others_are_named_as_they_are_installed(tmp_path: Path):
    """The standard library is nobody's; Google's share a first name."""
    entry = "import os, yaml.nodes\nfrom google.cloud import storage\nfrom google.auth.jwt import decode\n"
    assert reached(tmp_path, entry, {}).others == {"yaml", "google.cloud", "google.auth"}


@pytest.mark.parametrize(
    ("line", "says"), [("from . import a", "relative"), ("import spotwarden.gone", "spotwarden.gone")]
)
def test_what_cannot_be_followed_is_refused(tmp_path: Path, line: str, says: str):
    """Rather than left out and missed at the first event."""
    with pytest.raises(SystemExit, match=says):
        reached(tmp_path, line, {})


def test_a_package_brings_what_it_needs_and_no_extra_that_nobody_asked_for():
    """The lock says that api-core brings gRPC, for somebody asks for that extra; a function does not."""
    assert {"google-auth", "protobuf", "requests", "certifi"} <= needs.closure(["google-api-core"])
    assert "grpcio" not in needs.closure(["google-api-core"])
    assert "grpcio" in needs.closure(["google-api-core[grpc]"])


def test_what_only_another_platform_needs_is_left_out():
    """Functions run on Linux."""
    assert "colorama" not in needs.closure(["click"])


def test_a_package_that_is_nowhere_is_refused_by_name():
    """Rather than deployed without."""
    with pytest.raises(SystemExit, match="no-such-package"):
        needs.closure(["no-such-package"])


def test_a_package_that_the_lock_lacks_is_refused_by_name(tmp_path: Path):
    """With the function's name, whose list is wrong."""
    (tmp_path / "requirements.txt").write_text("# a word\nmsgspec\n")
    with pytest.raises(SystemExit, match="msgspec"):
        needs.requirements(tmp_path, "click==8.5.1 \\\n    --hash=sha256:00\n    # via x\n")
