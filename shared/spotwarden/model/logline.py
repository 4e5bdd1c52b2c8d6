"""A line that a VM has written to its log."""

import msgspec

from spotwarden.model.moment import Moment


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """`text` is without the name of the script that said it; `key` tells it from its instance's others."""

    at: Moment
    instance_id: str
    text: str
    key: str
