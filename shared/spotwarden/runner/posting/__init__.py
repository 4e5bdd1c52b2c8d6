"""The post room: takes notices in, and brings each to its people, once."""

from spotwarden.runner.posting.delivering import deliver
from spotwarden.runner.posting.intake import take_in

__all__ = ["deliver", "take_in"]
