"""Paths of a job's output files as names of objects, and back.

A path on a disk may have any bytes; Cloud Storage holds names of UTF-8 without the two ends of lines (Google:
"About Cloud Storage objects"). Those two, and bytes that are no UTF-8, are percent-encoded; so is the % of
what would read like one of these, and nothing else. The job kit does the same (infra/job/kit/parts/text.sh).
"""

import re

_ENCODED = re.compile(rb"%(0A|0D|25|[89A-F][0-9A-F])")
_ENDS = re.compile(rb"[\n\r]")


def object_path(path: bytes) -> str:
    """The name, below `output/`, of the object that a file becomes."""
    escaped = _ENCODED.sub(lambda found: b"%25" + found[1], path)
    escaped = _ENDS.sub(lambda found: b"%%%02X" % found[0][0], escaped)
    text = escaped.decode(errors="surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda found: f"%{ord(found[0]) - 0xDC00:02X}", text)


def file_path(name: str) -> bytes:
    """The path of the file that an object was; a name that `object_path` never gives stands for itself."""
    raw = name.encode(errors="surrogateescape")
    path = _ENCODED.sub(lambda found: bytes([int(found[1], 16)]), raw)
    return path if object_path(path) == name else raw
