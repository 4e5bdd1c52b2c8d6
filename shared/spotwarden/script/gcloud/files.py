"""Files that a flag names, as they were stored beside the script."""

import posixpath
from collections.abc import Mapping

from spotwarden.script.gcloud.values import Misfit


def content(files: Mapping[str, bytes], path: str) -> bytes:
    """Give the bytes of a file; raise `Misfit` if it is not with the script."""
    for name in (path, posixpath.normpath(path) if path else ""):
        if name in files:
            return files[name]
    if path == "/dev/null":
        return b""
    raise Misfit(f"the file {path!r} is not with the script; store it beside the script")


def text(files: Mapping[str, bytes], path: str) -> str:
    """Give a file as text with line feeds only; raise `Misfit` if it is missing or not UTF-8."""
    try:
        found = content(files, path).decode()
    except UnicodeDecodeError as error:
        raise Misfit(f"the file {path!r} is not UTF-8 text at byte {error.start}") from None
    return found.replace("\r\n", "\n").replace("\r", "\n")
