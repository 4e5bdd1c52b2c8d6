"""What is no answer to anything ends a look."""

from collections.abc import Collection


def rise(what: str, failures: Collection[Exception]) -> None:
    """What is no answer to anything ends the look: nothing is judged by half of it."""
    if failures:
        raise ExceptionGroup(f"{what} could not be read", list(failures))
