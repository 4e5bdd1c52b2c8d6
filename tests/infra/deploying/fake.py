"""Stands in for a tool on PATH: writes down how it was called, and answers from a script.

FAKE_ANSWERS names a JSON file, a list of [pattern, status, what it prints, its complaint]; the first whose
pattern is found in the command line holds. A fifth number says to how many calls of one line it is given.
"""

import json
import os
import re
import sys
from pathlib import Path

HEARS = ("--data-file=-", "--config -")


def main() -> int:
    """Answer one call."""
    line = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    heard = sys.stdin.read() if any(word in line for word in HEARS) else ""
    log = Path(os.environ["FAKE_LOG"])
    before = log.read_text().splitlines() if log.exists() else []
    with log.open("a") as file:
        file.write(json.dumps({"line": line, "heard": heard}) + "\n")
    times = sum(json.loads(one)["line"] == line for one in before)
    for pattern, status, out, complaint, *most in json.loads(Path(os.environ["FAKE_ANSWERS"]).read_text()):
        if re.search(pattern, line) and (not most or times < most[0]):
            sys.stdout.write(out)
            sys.stderr.write(complaint)
            return int(status)
    return 0


if __name__ == "__main__":
    sys.exit(main())
