"""Lines of the log, as they come out where the platform adds the id of each execution to them."""

import io
import json
import threading
from contextlib import redirect_stdout
from datetime import UTC, datetime

from functions_framework.execution_id import (
    ExecutionContext,
    LoggingHandlerAddExecutionId,
    execution_context_var,
)

from spotwarden.engine.fan_out import each
from spotwarden.engine.log import log
from spotwarden.model.tick import Tick

TICK = Tick(function="reap_vms", sweep="s", now=datetime(2026, 11, 21, tzinfo=UTC))


class Slow(io.StringIO):
    """A stream that lets another worker go first after each piece of a line, if one is on its way."""

    def __init__(self):
        super().__init__()
        self._both = threading.Barrier(2)

    def write(self, text):
        """Write, and wait a moment for company."""
        count = super().write(text)
        try:
            self._both.wait(timeout=0.1)
        except threading.BrokenBarrierError:
            self._both.reset()
        return count


def test_lines_of_two_workers_do_not_run_into_each_other():
    """The framework writes a line and its end apart; cut in two it is no JSON, and no alert finds it."""
    stream = Slow()
    token = execution_context_var.set(ExecutionContext("an-execution"))
    try:
        with redirect_stdout(LoggingHandlerAddExecutionId(stream)):
            each(("a", "b"), lambda one: log(TICK, "INFO", one, kind=one), workers=2)
    finally:
        execution_context_var.reset(token)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert sorted(line["message"] for line in lines) == ["a", "b"]
    assert {line["logging.googleapis.com/labels"]["execution_id"] for line in lines} == {"an-execution"}
