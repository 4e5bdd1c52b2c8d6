"""What each page says."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from spotwarden.model.delivery import Pace
from spotwarden.model.notice import Way
from spotwarden.model.offer import Unfit
from spotwarden.model.spans import moment, span
from spotwarden.model.threads import Threads
from spotwarden.notify.links.pages.page import AnswerPage, PageChoice, Question, TextEntry, Tone
from spotwarden.notify.links.reply import (
    AnswerFailed,
    AnswerGiven,
    AnswerShown,
    AnswerTrouble,
    OfferStanding,
    PreferencesShown,
    Reply,
)

AT_ONCE = "You always get warnings, and messages about what was stopped or deleted, at once."
_PACES: Mapping[Pace, tuple[str, str]] = {
    Pace.NOW: ("As it happens", "one message for each event"),
    Pace.HOURLY: ("Once an hour", "all events in one message"),
    Pace.DAILY: ("Once a day", "all events in one message"),
}
_WEEKLY = (
    (True, "yes", "On Mondays", "what ran, its cost, savings and waste"),
    (False, "no", "Never", "the report page has the same figures"),
)
_THREADS: Mapping[Threads, tuple[str, str]] = {
    Threads.NEWS: ("What happened", "in Gmail a conversation for each kind of news about a job"),
    Threads.JOB: ("The job alone", "in Gmail one conversation for each job"),
}
ANSWERED: Mapping[Way, str] = {
    Way.KEEP: "Keep",
    Way.EXTEND: "Extend",
    Way.STOP: "Stop",
    Way.RESTART: "Restart",
    Way.APPROVE: "Approve",
}
GRAVE = frozenset({Way.STOP, Way.APPROVE})
"""Answers that end something: their buttons look it."""
_UNFIT: Mapping[Unfit, tuple[int, str, str]] = {
    Unfit.BROKEN: (
        400,
        "This link is incomplete",
        "A part of it is missing or changed. Your mail program may have broken the line.",
    ),
    Unfit.FOREIGN: (
        403,
        "This link is from another deployment",
        "Another deployment of Spotwarden made it, or its signing key has been replaced.",
    ),
    Unfit.EXPIRED: (410, "This link has expired", "Links in messages are valid for a limited time."),
}
_TROUBLE: Mapping[AnswerTrouble, tuple[int, str, str]] = {
    AnswerTrouble.SILENT: (
        503,
        "Google Cloud doesn't respond",
        "Nothing was changed. Try again in a minute. The link stays valid.",
    ),
    AnswerTrouble.UNSURE: (
        503,
        "Google Cloud doesn't respond",
        (
            "We couldn't confirm that your answer was saved. Open the link again in a minute to see."
            " Answering again is safe: it counts once."
        ),
    ),
    AnswerTrouble.BROKEN: (
        500,
        "An object in the bucket can't be read",
        "Nothing was changed. Ask whoever runs Spotwarden to fix or remove this object.",
    ),
    AnswerTrouble.POLICY: (
        500,
        "The policy file has an error",
        (
            "Nothing was changed, and Spotwarden stops and deletes nothing until the file is fixed."
            " Send this page to whoever runs Spotwarden. Once they fix and deploy the policy, the"
            " link works again."
        ),
    ),
    AnswerTrouble.LARGE: (
        413,
        "The request is too large",
        "An answer is never this large. Nothing was changed.",
    ),
    AnswerTrouble.METHOD: (
        405,
        "This request isn't supported",
        "Open the link in a browser, then press its button.",
    ),
    AnswerTrouble.MISSING: (
        400,
        "The link is missing",
        "Open this page from a link in a Spotwarden message. Nothing was changed.",
    ),
}


def page(reply: Reply) -> AnswerPage:
    """The page for this reply."""
    return _PAGES[type(reply)](reply)


def on_clock(said: AnswerPage, tell: Callable[[str], str]) -> AnswerPage:
    """The page with each moment in it as `tell` writes it; commands stay as they are typed."""
    return replace(
        said,
        says=tell(said.says),
        notes=tuple(map(tell, said.notes)),
        facts=tuple((word, tell(text)) for word, text in said.facts),
        foot=tell(said.foot),
    )


def _shown(shown: AnswerShown) -> AnswerPage:
    verdict, offer = shown.verdict, shown.offer
    tones = {OfferStanding.OPEN: Tone.ASKS, OfferStanding.SETTLED: Tone.GOOD, OfferStanding.BARRED: Tone.BAD}
    opened = verdict.standing is OfferStanding.OPEN
    foot = (
        f"You answer as {offer.to}. Only you have this link. It is valid until {moment(offer.expires)}."
        " To cancel, close this page. Nothing changes until you press the button."
    )
    return AnswerPage(
        code=verdict.code,
        tone=tones[verdict.standing],
        title=verdict.title,
        says=verdict.says,
        notes=verdict.notes,
        facts=verdict.facts,
        button=verdict.button if opened else "",
        grave=offer.way in GRAVE,
        back="" if opened else "Check again",
        instead=verdict.instead,
        command=verdict.command,
        foot=foot
        if opened
        else f"{verdict.changed or 'Nothing was changed.'} The message was for {offer.to}.",
    )


def _given(given: AnswerGiven) -> AnswerPage:
    used = given.used
    again = f"{used.offer.to} answered this at {moment(used.at)}. Nothing was done again."
    about = {"Answer": ANSWERED[used.offer.way], "Job": used.offer.job, "By": used.offer.to}
    outcome = used.outcome if given.repeated else ""
    return AnswerPage(
        code=200,
        tone=Tone.GOOD,
        title="Already answered" if given.repeated else "Done",
        says=again if given.repeated else _sentence(used.outcome),
        notes=(_sentence(used.note),) if used.note else (),
        facts=tuple(
            (word, text)
            for word, text in (*about.items(), ("At", moment(used.at)), ("Outcome", outcome))
            if text
        ),
        foot="You can close this page.",
        back="See the current status",
    )


def _preferences(preferences: PreferencesShown) -> AnswerPage:
    if preferences.unknown:
        says = (
            f"Unknown time zone {preferences.timezone}. Nothing was changed. Write one such as Europe/Berlin,"
            " America/New_York or UTC."
        )
    elif preferences.saved and preferences.pace is not None:
        says = f"You now get non-urgent messages {_PACES[preferences.pace][0].lower()}. {AT_ONCE}"
        says += f" Times are in {preferences.timezone}." if preferences.timezone else ""
    elif preferences.pace is None:
        says = (
            f"{AT_ONCE} Other messages are collected for {span(preferences.digest)}, unless you choose below."
        )
    else:
        says = AT_ONCE
    return AnswerPage(
        code=400 if preferences.unknown else 200,
        tone=Tone.BAD if preferences.unknown else Tone.GOOD if preferences.saved else Tone.ASKS,
        title="Not saved"
        if preferences.unknown
        else "Saved"
        if preferences.saved
        else "How often do you want messages?",
        says=says,
        questions=_questions(preferences),
        entries=(_timezone(preferences),),
        button="Save",
        back="Show my settings" if preferences.saved else "",
        foot=f"This is for messages to {preferences.preference_offer.to}. Only you have this link.",
    )


def _questions(preferences: PreferencesShown) -> tuple[Question, ...]:
    paces = tuple(
        PageChoice(value=pace.value, label=label, detail=detail, chosen=pace is preferences.pace)
        for pace, (label, detail) in _PACES.items()
    )
    weekly = tuple(
        PageChoice(value=value, label=label, detail=detail, chosen=preferences.weekly is wanted)
        for wanted, value, label, detail in _WEEKLY
    )
    threads = tuple(
        PageChoice(value=way.value, label=label, detail=detail, chosen=way is preferences.threads)
        for way, (label, detail) in _THREADS.items()
    )
    return (
        Question(
            legend="Non-urgent messages, such as that a job runs again",
            name="pace",
            choices=paces,
            needed=True,
        ),
        Question(legend="The weekly report", name="weekly", choices=weekly),
        Question(legend="What the subject of a mail says", name="threads", choices=threads),
    )


def _timezone(preferences: PreferencesShown) -> TextEntry:
    return TextEntry(
        legend="The time zone of your messages",
        name="timezone",
        detail="such as Europe/Berlin; empty for your team's",
        value=preferences.timezone,
    )


def _unfit(unfit: Unfit) -> AnswerPage:
    code, title, says = _UNFIT[unfit]
    return AnswerPage(
        code=code,
        tone=Tone.BAD,
        title=title,
        says=f"{says} Nothing was changed.",
        instead="Open the link in the newest message. Or list open cases and answer by command:",
        command="spotwarden cases list",
    )


def _failed(failed: AnswerFailed) -> AnswerPage:
    code, title, says = _TROUBLE[failed.trouble]
    word = {AnswerTrouble.BROKEN: "Object", AnswerTrouble.POLICY: "Policy"}.get(failed.trouble, "")
    return AnswerPage(
        code=code,
        tone=Tone.BAD,
        title=title,
        says=says,
        facts=((word, failed.detail),) if word and failed.detail else (),
        back="Try again",
    )


def _sentence(text: str) -> str:
    """With a full stop; what it begins with may be a name, which stays as it is written."""
    return text if not text or text.endswith(".") else f"{text}."


_PAGES: Mapping[type, Callable[[Any], AnswerPage]] = {
    AnswerShown: _shown,
    AnswerGiven: _given,
    PreferencesShown: _preferences,
    Unfit: _unfit,
    AnswerFailed: _failed,
}
