"""The two scripts as they are stored."""

import re
import subprocess

import pytest

from tests.job.lab import KIT

VALUE_AT_MOST = 256 * 1024
ALL_AT_MOST = 512 * 1024
"""Google: "About VM metadata", on the size of custom metadata."""


@pytest.mark.parametrize("name", ["startup.sh", "shutdown.sh"])
def test_a_script_is_what_its_parts_are(tmp_path, name):
    """Whoever changes a part puts the scripts together again."""
    for part in ("assemble", "parts", "python"):
        (tmp_path / part).symlink_to(KIT / part)
    subprocess.run(["bash", str(tmp_path / "assemble")], check=True, cwd=tmp_path)
    assert (KIT / name).read_text() == (tmp_path / name).read_text()


def test_the_kit_leaves_room_in_the_metadata():
    """Half of it, for what jobs set themselves."""
    sizes = [(KIT / name).stat().st_size for name in ("startup.sh", "shutdown.sh")]
    assert max(sizes) < VALUE_AT_MOST / 2
    assert sum(sizes) < ALL_AT_MOST / 2


@pytest.mark.parametrize("word", ["wait -n", "EPOCHSECONDS", "EPOCHREALTIME", "@Q}", "local -n", "SRANDOM"])
def test_what_is_newer_than_bash_4_2_is_not_used(word):
    """So old is the bash of some images; `${x,,}`, `declare -gA` and `printf %(…)T` are as old."""
    assert word not in (KIT / "startup.sh").read_text()


def test_the_page_tells_every_setting():
    """A setting that nobody can find is none."""
    page = (KIT.parents[2] / "docs/job-kit.md").read_text()
    listed = re.search(r'ATTRIBUTES="([^"]*)"', (KIT / "startup.sh").read_text())
    assert listed
    assert [name for name in listed[1].split() if f"`spotwarden-{name}`" not in page] == []
