"""The one error of this package."""


class ScriptRefused(Exception):  # noqa: N818 — a refusal is an outcome with a reason, not a fault of the program
    """The script cannot be re-run as data: says which file, which line and why.

    `line` counts from 1 in the file as stored; 0 means the file as a whole.
    """

    def __init__(self, reason: str, *, line: int = 0, file: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.file = file

    @property
    def where(self) -> str:
        """`:3` for line 3; "" where it is the file as a whole."""
        return f":{self.line}" if self.line else ""

    def __str__(self) -> str:
        return f"{self.file or 'create script'}{self.where}: {self.reason}"
