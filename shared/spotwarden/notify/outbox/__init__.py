"""How a notice finds its way: to whom, when, as which letter, and what becomes of one that fails."""

from spotwarden.notify.outbox.due import asks_pace, due
from spotwarden.notify.outbox.late import as_of
from spotwarden.notify.outbox.mailer import Scribe
from spotwarden.notify.outbox.model import Posting
from spotwarden.notify.outbox.recipients import addressed, stand_ins
from spotwarden.notify.outbox.rounds import after, batch, once_more
from spotwarden.notify.outbox.tidying import read, unreadable

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
