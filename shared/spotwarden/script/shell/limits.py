"""How much of a script is read, and why not more. All counts are far above what people write."""

from collections.abc import Callable

from spotwarden.script.refusal import Refused

# Compute Engine takes at most 256 KB for one metadata value, and nothing else in a script is large.
MAX_SCRIPT_BYTES = 256 * 1024

# Compound commands, substitutions and function calls within each other; each takes some Python frames of
# the thousand there are.
MAX_NESTING = 32

# Words and parts of words. With the size above it keeps reading well under a second.
MAX_NODES = 20_000

# Simple commands and tests executed, loops included.
MAX_STEPS = 5_000

# Characters that all expansions together may produce: a value doubled in a loop stops here.
MAX_TEXT = 4 * 1024 * 1024

# What a word or a piece of one costs of these: arrays that double stop long before they fill the memory.
PIECE_COST = 32

# Characters of one pattern, regular expression or arithmetic expression.
MAX_EXPRESSION = 2_000

# Words that one brace expansion may make.
MAX_BRACES = 2_000

# gcloud commands handed on: a gang of more machines is one bulk create.
MAX_COMMANDS = 1_000

# Linux runs no program with a longer argument (MAX_ARG_STRLEN: 32 pages, with the closing NUL).
MAX_ARGUMENT_BYTES = 128 * 1024 - 1

# Rounds after which the variables of a loop that runs an unknown number of times must have settled.
MAX_ROUNDS = 10


class Budget:
    """Counts down what one script may use, and refuses it when that is spent."""

    def __init__(self) -> None:
        self._nodes = MAX_NODES
        self._steps = MAX_STEPS
        self._text = MAX_TEXT

    def node(self, line: Callable[[], int]) -> None:
        """Account for one more word or part of a word; `line` tells where it stands, if that is asked."""
        self._nodes -= 1
        if self._nodes < 0:
            raise Refused(f"the script has more than {MAX_NODES} words and parts of words", line=line())

    def step(self, line: int) -> None:
        """Account for one more command executed."""
        self._steps -= 1
        if self._steps < 0:
            raise Refused(f"the script runs more than {MAX_STEPS} commands (an endless loop?)", line=line)

    def text(self, size: int, line: int = 0) -> None:
        """Account for `size` characters made or searched."""
        self._text -= size
        if self._text < 0:
            raise Refused(f"the values of the script grow beyond {MAX_TEXT} characters", line=line)


def nested(depth: int, line: int) -> int:
    """Return the next depth; raise `Refused` when it is too deep."""
    if depth >= MAX_NESTING:
        raise Refused(f"commands are nested more than {MAX_NESTING} deep", line=line)
    return depth + 1
