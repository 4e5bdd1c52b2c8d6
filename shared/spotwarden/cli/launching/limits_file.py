"""What `spotwarden run` says of limits, as the job's own `job.toml`."""

import json
from collections.abc import Iterator

from spotwarden.cli.launching.asked import Asked
from spotwarden.model.values import written


def job_file(asked: Asked) -> str:
    """The text of `job.toml`; "" where nothing was said of any limit."""
    return "".join(f"{line}\n" for line in _lines(asked))


def _lines(asked: Asked) -> Iterator[str]:
    if asked.owner:
        yield f"owner = {_text(asked.owner)}"
        if "@" in asked.owner:
            yield f"email = {_text(asked.owner)}"
    if asked.max_runtime is not None:
        yield f'max_runtime = "{written(asked.max_runtime)}"'
    if asked.budget is not None:
        yield f"budget = {asked.budget!r}"
    if asked.work is not None:
        yield f'work = "{written(asked.work)}"'
    if asked.deadline is not None:
        yield f"deadline = {asked.deadline.isoformat()}"
    if asked.places:
        yield f"places = [{', '.join(_text(place) for place in asked.places)}]"


def _text(said: str) -> str:
    """A basic string of TOML: JSON's escapes are among those that it knows."""
    return json.dumps(said, ensure_ascii=False).replace("\x7f", "\\u007f")
