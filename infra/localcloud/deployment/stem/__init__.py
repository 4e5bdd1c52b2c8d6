"""The stem: one process that has imported what the functions import, and forks each of them.

What a function costs at its start is imports, all but a tenth of it. `process` is what the stem runs, `stem`
how the local cloud asks it. The functions are none the worse for its death: from then on they are started by
command line, as they are where there is no stem at all.
"""

from localcloud.deployment.stem.stem import Stem

__all__ = ["Stem"]
