"""A moment, as a record of the bucket says it."""

from datetime import datetime
from typing import Annotated

import msgspec

Moment = Annotated[datetime, msgspec.Meta(tz=True)]
"""One without a time zone is refused: nobody knows which is meant, and it cannot be held against ours."""
