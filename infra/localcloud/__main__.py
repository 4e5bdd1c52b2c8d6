"""`python -m localcloud`: what `spotwarden local` runs. Ctrl-C counts from the first import on."""

import importlib
import os
import signal
from types import FrameType

from localcloud.interrupted import STATUS


def _end(_number: int, _frame: FrameType | None) -> None:
    """Nothing has begun, so nothing is to be undone."""
    os.write(2, b"\ninterrupted\n")
    os._exit(STATUS)


if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
    main = importlib.import_module("localcloud.commands").main
    signal.signal(signal.SIGINT, signal.default_int_handler)
else:
    main = importlib.import_module("localcloud.commands").main
main(prog_name="spotwarden local")
