"""What a click in a message would do as things stand, and what its reader is shown."""

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum

import msgspec

from spotwarden.model.action import Change
from spotwarden.model.answer import Answer
from spotwarden.model.case import Case
from spotwarden.model.delivery import Pace
from spotwarden.model.facts import JobFacts
from spotwarden.model.fleet import Fleet
from spotwarden.model.jobfile import JobFile
from spotwarden.model.offer import Offer, PreferenceOffer, Unfit, UsedAnswer
from spotwarden.model.threads import Threads


class OfferFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of what an offer is about: its case, and for a restart its job.

    `file` is what the job says of itself, `fleet` how the VMs of the case are. `scratch` says that one of
    them has local SSDs; of the GB of each VM's other disks `gb` stay when it is stopped, `gb_kept` when it is
    deleted. `status` is the object in which the job's end stands, and its generation. `started` are the
    instances of a closed job that a person has started since, by node. `claimed` says that the answer was
    given before, and perhaps not yet carried out.
    """

    offer: Offer
    case: Case | None = None
    file: JobFile = JobFile()
    fleet: Fleet = Fleet()
    scratch: bool = False
    gb: int = 0
    gb_kept: int = 0
    job: JobFacts | None = None
    status: tuple[str, int] | None = None
    started: Mapping[str, str] = {}
    claimed: bool = False


class OfferStanding(Enum):
    """Whether an answer can be given."""

    OPEN = "it can be given"
    SETTLED = "it is so already"
    BARRED = "it cannot be given"


class AnswerVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether what an offer offers can be done now, and how.

    `says` is one sentence on what would be done, or why not; `notes` are what to know of it, `facts` how
    things stand. `instead` is what else can be done, `command` by which command. `code` is HTTP's status.
    `answer` is for the case, `steps` are what to do else; `done` is what the record will say of it. `changed`
    is what was done already when the rest turned out to be barred. `head` is the number of the job's newest
    record that it rests on, with the one that it writes itself; None where a newer one changes nothing.
    """

    standing: OfferStanding
    title: str
    says: str
    code: int = 200
    notes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    instead: str = ""
    command: str = ""
    button: str = ""
    answer: Answer | None = None
    steps: tuple[Change, ...] = ()
    done: str = ""
    changed: str = ""
    head: int | None = None


class AnswerShown(msgspec.Struct, frozen=True, kw_only=True):
    """What a click would do, or why it does nothing."""

    offer: Offer
    verdict: AnswerVerdict


class AnswerGiven(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that was given: by this click, or earlier and now repeated."""

    used: UsedAnswer
    repeated: bool = False


class PreferencesShown(msgspec.Struct, frozen=True, kw_only=True):
    """How often a person wants to hear of news; `saved` where he has said so just now.

    A `pace` of None is one who has not said: news is gathered for `digest`, as the policy says. `weekly` is
    whether the report of the week is to come. `timezone` is the clock that he has chosen; one that is
    `unknown` saves nothing. `threads` says which mails share a subject, whoever chose it.
    """

    preference_offer: PreferenceOffer
    pace: Pace | None
    weekly: bool = True
    timezone: str = ""
    threads: Threads = Threads.NEWS
    digest: timedelta
    saved: bool = False
    unknown: bool = False


class AnswerTrouble(Enum):
    """Why there is no answer to be had."""

    SILENT = "Google Cloud does not answer"
    UNSURE = "Google Cloud stopped responding midway"
    BROKEN = "an object of the bucket is broken"
    POLICY = "the policy file is broken"
    LARGE = "the request is too large"
    METHOD = "the method is not allowed"
    MISSING = "there is no token"


class AnswerFailed(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing can be shown; `detail` is what a person may need to mend it."""

    trouble: AnswerTrouble
    detail: str = ""


Reply = AnswerShown | AnswerGiven | PreferencesShown | Unfit | AnswerFailed


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """A page that is ready to go out."""

    code: int
    html: str
