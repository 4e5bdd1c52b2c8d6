"""How a notice finds its way: to whom, when, as which letter, and what becomes of one that fails."""

from spotwarden.decide.posting.due import asks_pace, due
from spotwarden.decide.posting.late import as_of
from spotwarden.decide.posting.recipients import addressed, stand_ins
from spotwarden.decide.posting.rounds import after, batch, once_more
from spotwarden.decide.posting.scribe import Scribe
from spotwarden.decide.posting.tidying import read, unreadable
from spotwarden.model.posting import Posting

__all__ = ["POSTING", "Scribe"]

POSTING = Posting(
    read=read,
    unreadable=unreadable,
    addressed=addressed,
    stand_ins=stand_ins,
    due=due,
    as_of=as_of,
    asks_pace=asks_pace,
    batch=batch,
    once_more=once_more,
    after=after,
)
