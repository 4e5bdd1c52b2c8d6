"""What `spotwarden` starts with: Ctrl-C counts from here on, and nothing that takes long was imported yet."""

import importlib
import os
import signal
from types import FrameType

STATUS = 128 + signal.SIGINT


def main() -> None:
    """Run the command; Ctrl-C while it is only being imported ends it with 130 and a word."""
    # Who started us may have told us to pass it by, as nohup and a shell's `&` do.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    importlib.import_module("spotwarden.cli.main").main()


def _end(_number: int, _frame: FrameType | None) -> None:
    """Nothing has begun, so nothing is to be undone; `cli.interrupted` takes over with the command."""
    os.write(2, b"\ninterrupted\n")
    os._exit(STATUS)
