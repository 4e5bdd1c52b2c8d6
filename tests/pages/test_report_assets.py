"""What the report's pages load: from beside them, under names that change with the content."""

from hashlib import sha256

import pytest

from spotwarden.report import assets


def test_the_chart_library_is_the_one_that_its_readme_names():
    """Not a byte differs from the published file."""
    body = (assets.FOLDER / "uplot/uPlot.iife.min.js").read_bytes()
    readme = (assets.FOLDER / "uplot/README.md").read_text(encoding="utf-8")
    assert f"`{sha256(body).hexdigest()}`" in readme
    assert f"uPlot {body.decode().partition('(v')[2].partition(')')[0]}" in readme


def test_its_licence_goes_with_it():
    """Wherever it is served; what is ours has none."""
    served = assets.assets()["uPlot.iife.min.js"].body.decode()
    assert served.startswith("/*\nThe MIT License (MIT)\n\nCopyright (c) 2022 Leon Sorokin")
    assert served.endswith((assets.FOLDER / "uplot/uPlot.iife.min.js").read_text(encoding="utf-8"))
    assert not assets.assets()["report.js"].body.startswith(b"/*")


def test_a_name_has_the_digest_of_its_content():
    """So a browser may keep it for ever."""
    for plain, asset in assets.assets().items():
        assert sha256(asset.body).hexdigest()[:16] in asset.name
        assert assets.served(asset.name) is asset
        assert assets.served(plain) is None


def test_a_name_that_is_not_served_is_nothing():
    """Neither the plain name nor a way out of the folder leads to a file."""
    for name in ("report.css", "uplot/LICENSE", "../assets.py", ""):
        assert assets.served(name) is None


@pytest.mark.parametrize("plain", sorted(assets.assets()))
def test_nothing_of_it_reaches_for_another_host(plain):
    """The only addresses are of the library's own page and of SVG's name, which nobody loads."""
    text = assets.assets()[plain].body.decode()
    known = text.replace("https://github.com/leeoniya/uPlot", "").replace("http://www.w3.org/2000/svg", "")
    assert "http" not in known.replace("https?", "")
    assert "@import" not in text
    assert "eval(" not in text
