"""How much of a script is read, and why not more. All counts are far above what people write.

A function has no clock that could end one script and leave the others alone: a thread cannot be stopped,
and a process for each script would cost more than all scripts together. So the work itself is counted. Each
loop over what a script says charges its `Budget` before it goes on, and matching is done by RE2, whose time
is bounded by the text times the program. A test (`test_shell_charges.py`) goes through the
source of the reader and the evaluator and finds any loop or recursion that does neither.
"""

from collections.abc import Callable

from spotwarden.create_script.refusal import ScriptRefused

# Compute Engine takes at most 256 KB for one metadata value, and nothing else in a script is large.
MAX_SCRIPT_BYTES = 256 * 1024

# Compound commands, substitutions and function calls within each other; each takes some Python frames of
# the thousand there are.
MAX_NESTING = 32

# Words and parts of words. With the size above it keeps reading well under a second.
MAX_NODES = 20_000

# Simple commands and tests executed, loops included.
MAX_STEPS = 5_000

# Characters that may be made, copied or searched. One costs a machine about a tenth of a microsecond at
# worst, so the whole is spent within half a second. What people write uses less than a hundredth.
MAX_TEXT = 4 * 1024 * 1024

# What a word, an element or a variable costs of these when it is made, in time and in memory.
PIECE_COST = 32

# What a sign, an element or a variable costs of these that is looked at, or copied with others.
ITEM_COST = 8

# What an element costs of these when its array is copied as a whole, as each assignment to one does.
COPY_COST = 4

# Characters of one pattern, regular expression or arithmetic expression.
MAX_EXPRESSION = 2_000

# Memory of one RE2 program in bytes, and so about 5,000 instructions. A larger expression is refused.
MAX_PROGRAM_BYTES = 256 * 1024

# Folders within each other in one path. Linux allows more, but nobody keeps the files of a job that deep.
MAX_FOLDERS = 32

# Words that one brace expansion may make.
MAX_BRACES = 2_000

# gcloud commands handed on: a gang of more machines is one bulk create.
MAX_COMMANDS = 1_000

# Linux runs no program with a longer argument (MAX_ARG_STRLEN: 32 pages, with the closing NUL).
MAX_ARGUMENT_BYTES = 128 * 1024 - 1

# Rounds after which the variables of a loop that runs an unknown number of times must have settled.
MAX_ROUNDS = 10


class Budget:
    """Counts down what one script may use, and refuses it when that is spent.

    `place` tells the line that is being run, for charges that know of no line themselves.
    """

    def __init__(self) -> None:
        self.place: Callable[[], int] = lambda: 0
        self._nodes = MAX_NODES
        self._steps = MAX_STEPS
        self._text = MAX_TEXT

    @property
    def spent(self) -> tuple[int, int, int]:
        """What has been used: words and parts of words, commands, characters."""
        return MAX_NODES - self._nodes, MAX_STEPS - self._steps, MAX_TEXT - self._text

    def node(self, line: Callable[[], int]) -> None:
        """Account for one more word or part of a word; `line` tells where it stands, if that is asked."""
        self._nodes -= 1
        if self._nodes < 0:
            raise ScriptRefused(f"the script has more than {MAX_NODES} words and parts of words", line=line())

    def step(self, line: int) -> None:
        """Account for one more command executed."""
        self._steps -= 1
        if self._steps < 0:
            raise ScriptRefused(
                f"the script runs more than {MAX_STEPS} commands (an endless loop?)", line=line
            )

    def text(self, size: int, line: int = 0) -> None:
        """Account for `size` characters made, copied or searched."""
        self._text -= size
        if self._text < 0:
            raise ScriptRefused(
                f"the values of the script grow beyond {MAX_TEXT} characters, or take too long to compute",
                line=line or self.place(),
            )

    def items(self, count: int, line: int = 0) -> None:
        """Account for `count` signs, elements or variables looked at or copied."""
        self.text(ITEM_COST * count, line)

    def pieces(self, count: int = 1, line: int = 0) -> None:
        """Account for `count` words, elements or commands made."""
        self.text(PIECE_COST * count, line)


def nested(depth: int, line: int) -> int:
    """Return the next depth; raise `ScriptRefused` when it is too deep."""
    if depth >= MAX_NESTING:
        raise ScriptRefused(f"commands are nested more than {MAX_NESTING} deep", line=line)
    return depth + 1
