"""The folder `.spotwarden/<job>/`: the create script with its files, to be read, kept and edited."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import click
import msgspec

from spotwarden import typed

typed.prepare(dict[str, str])

KEPT = ".spotwarden"
CONFIDED = "environment"
"""Variables may be secrets: the file is its developer's alone, and git is told to pass it by."""
WRITTEN = "written.json"
"""What was written last, by digest: a file that is no longer so was edited."""
KIT = ("startup.sh", "shutdown.sh")
_PLACES = (
    Path(__file__).resolve().parents[4] / "infra" / "job" / "kit",
    Path(__file__).resolve().parents[2] / "kit",
)
"""Of a checkout, and of an installed package."""


def read_kit() -> dict[str, str]:
    """The job kit's scripts by name; a `ClickException` where it is not there."""
    for place in _PLACES:
        if all((place / name).is_file() for name in KIT):
            return {name: (place / name).read_text(encoding="utf-8") for name in KIT}
    raise click.ClickException(
        f"the job kit is missing: {' and '.join(KIT)} in {_PLACES[0]}; it comes with a checkout of Spotwarden"
    )


def digest(texts: Mapping[str, str]) -> str:
    """What tells one set of files from another."""
    whole = sha256()
    for name in sorted(texts):
        whole.update(f"{name}\0{texts[name]}\0".encode())
    return whole.hexdigest()


def write(folder: Path, texts: Mapping[str, str], *, overwrite: bool) -> None:
    """Write the files; one that its developer has edited stays, unless it may be overwritten.

    Raises:
        ClickException: some were edited; nothing was written, and it says what to do.
    """
    before = _written(folder)
    if not overwrite and (edited := _edited(folder, texts, before)):
        raise click.ClickException(
            f"you have edited {', '.join(edited)} in {folder}; launch that with\n"
            f"  spotwarden submit {folder}/create-instance.sh --job {folder.name} [--code .] [--again]\n"
            "or add --overwrite to replace it"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name in before.keys() - texts.keys():
        (folder / name).unlink(missing_ok=True)
    for name, text in texts.items():
        file = folder / name
        file.touch(mode=0o600 if name == CONFIDED else 0o666)
        file.write_text(text, encoding="utf-8", newline="")
    if not (ignored := folder.parent / ".gitignore").exists():
        ignored.write_text(f"{CONFIDED}\n", encoding="utf-8")
    digests = {name: _digest(text.encode()) for name, text in texts.items()}
    (folder / WRITTEN).write_bytes(msgspec.json.format(msgspec.json.encode(digests)) + b"\n")


def _edited(folder: Path, texts: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """The files that are neither as they were written nor as they would be now."""
    found = []
    for name in sorted({*texts, *before}):
        file = folder / name
        data = file.read_bytes() if file.is_file() else None
        if data is None or data == texts.get(name, "").encode():
            continue
        if _digest(data) != before.get(name):
            found.append(name)
    return found


def _written(folder: Path) -> dict[str, str]:
    try:
        return typed.decode((folder / WRITTEN).read_bytes(), dict[str, str])
    except (OSError, msgspec.DecodeError):
        return {}


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
