"""The cloud that `deploy_count.py` counts against: `govern_scale_server.py`, whose clock can go ahead.

    python tests/bench/deploy_count_server.py VMS VMS_OF_A_JOB FOLDER

`POST /bench/travel` lets so many seconds pass.
"""

import asyncio
import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from starlette.types import Send

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from localcloud.clock import Clock
from tests.bench import govern_scale_server as server

NONE_IDLES = 1_000_000
CLOCK = Clock()


class Travelling(server.Kept):
    """Lets time pass, beside what it does anyway."""

    async def _bench(self, path: str, body: bytes, send: Send) -> None:
        if path == "/bench/travel":
            CLOCK.travel(timedelta(seconds=json.loads(body)))
        await super()._bench(path, body, send)


def main(vms: str, of_a_job: str, folder: str) -> None:
    """Serve until the end."""
    changed: Any = server
    changed.Kept, changed.JOB, changed.Clock = Travelling, int(of_a_job), lambda: CLOCK
    asyncio.run(server.serve(int(vms), NONE_IDLES, Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
