"""What ends a run of tests that hangs after its last test, and says where."""

import faulthandler
import os
import sys
import threading

SECONDS = float(os.environ.get("SPOTWARDEN_TESTS_END", "120"))
"""So long the process may take to end once all tests have."""


def watch_the_end() -> None:
    """From now on the process ends within `SECONDS`, if need be by force: then all stacks are printed."""
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            sys.stderr.write(f"still runs after the last test, and is no daemon: {thread.name}\n")
    sys.stderr.flush()
    assert sys.__stderr__ is not None
    faulthandler.dump_traceback_later(SECONDS, exit=True, file=sys.__stderr__)
