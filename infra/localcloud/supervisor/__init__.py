"""Processes that cannot outlive the local cloud, however it dies.

`await start(argv, env=…, cwd=…)` puts a command under a supervisor: a guardian (see `guardian`) kills the
command and everything that came of it, daemons included, as soon as the local cloud asks for it or is gone.
On Linux this is exact. Elsewhere a process that made a session of its own *and* lost its parent before the
end is out of the guardian's sight; `sweep_leftovers`, called when a local cloud starts, finds it by its mark.
"""

from localcloud.supervisor.marks import VARIABLE, sweep_leftovers
from localcloud.supervisor.supervised import Supervised, adopt, start

__all__ = ["VARIABLE", "Supervised", "adopt", "start", "sweep_leftovers"]
