"""Run one stand-in: `python -I -S …/standins COMMAND ARGUMENT…`."""

import importlib
import os
import sys

if __name__ == "__main__":
    # Our own folder leaves the path: its modules must not hide the standard library's.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.exit(importlib.import_module("localcloud.standins.entry").main(sys.argv[1], sys.argv[2:]))
