"""The fork server: one process that has imported what the functions import, and forks each of them.

What a function costs at its start is imports, all but a tenth of it. `process` is what the fork server runs,
`server` how the local cloud asks it. The functions are none the worse for its death: from then on they are
started by command line, as they are where there is no fork server at all.
"""

from localcloud.deployment.fork_server.server import ForkServer

__all__ = ["ForkServer"]
