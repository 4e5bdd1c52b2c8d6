"""What each page says."""

from collections.abc import Callable, Mapping
from typing import Any

from spotwarden.model.delivery import Pace
from spotwarden.model.notice import Way
from spotwarden.model.offer import Unfit
from spotwarden.model.spans import moment, span
from spotwarden.notify.links.pages.page import AnswerPage, PageChoice, Question, Tone
from spotwarden.notify.links.reply import (
    AnswerFailed,
    AnswerGiven,
    AnswerShown,
    AnswerTrouble,
    OfferStanding,
    PreferencesShown,
    Reply,
)

AT_ONCE = "Warnings reach you in any case, and so does whatever was stopped or deleted."
_PACES: Mapping[Pace, tuple[str, str]] = {
    Pace.NOW: ("As it happens", "each piece of news by itself"),
    Pace.HOURLY: ("Once an hour", "all of it in one message"),
    Pace.DAILY: ("Once a day", "all of it in one message"),
}
_WEEKLY = (
    (True, "yes", "Comes on Monday", "what ran, what it cost and saved, what was wasted"),
    (False, "no", "Does not come", "the report page has the same figures"),
)
ANSWERED: Mapping[Way, str] = {
    Way.KEEP: "Keep",
    Way.EXTEND: "Extend",
    Way.STOP: "Stop",
    Way.RESTART: "Start again",
    Way.APPROVE: "Approve",
}
_UNFIT: Mapping[Unfit, tuple[int, str, str]] = {
    Unfit.BROKEN: (
        400,
        "This link is incomplete",
        "Something of it is missing or was changed on the way, perhaps where a mail program broke the line.",
    ),
    Unfit.FOREIGN: (
        403,
        "This link was not made here",
        "It belongs to another deployment of Spotwarden, or is so old that its key is no longer in use.",
    ),
    Unfit.EXPIRED: (410, "This link has expired", "It was good for a while only, and that is over."),
}
_TROUBLE: Mapping[AnswerTrouble, tuple[int, str, str]] = {
    AnswerTrouble.SILENT: (
        503,
        "Google Cloud does not answer",
        "Nothing was changed. Try again in a minute: the link stays good.",
    ),
    AnswerTrouble.UNSURE: (
        503,
        "Google Cloud does not answer",
        (
            "Nobody knows yet whether your answer has arrived. Open the link again in a minute:"
            " it tells, and pressing the button once more does nothing twice."
        ),
    ),
    AnswerTrouble.BROKEN: (
        500,
        "Something in the bucket is broken",
        "Nothing was changed. An operator has to fix or remove this object:",
    ),
    AnswerTrouble.POLICY: (
        500,
        "The policy of this deployment is broken",
        (
            "Nothing was changed, and nothing is stopped or deleted either until it is mended: no function"
            " acts by half of a policy. Somebody who runs Spotwarden has to mend the policy file and deploy"
            " it again; after that the link works, for as long as it is good. Send them this page."
        ),
    ),
    AnswerTrouble.LARGE: (
        413,
        "That is too much",
        "What was sent is larger than any answer. Nothing was changed.",
    ),
    AnswerTrouble.METHOD: (
        405,
        "That is not how it works",
        "This page can be opened, and its button pressed.",
    ),
    AnswerTrouble.MISSING: (
        400,
        "There is no link here",
        "This page is opened by a link in a message of Spotwarden. Nothing was changed.",
    ),
}


def page(reply: Reply) -> AnswerPage:
    """The page for this reply."""
    return _PAGES[type(reply)](reply)


def _shown(shown: AnswerShown) -> AnswerPage:
    verdict, offer = shown.verdict, shown.offer
    tones = {OfferStanding.OPEN: Tone.ASKS, OfferStanding.SETTLED: Tone.GOOD, OfferStanding.BARRED: Tone.BAD}
    opened = verdict.standing is OfferStanding.OPEN
    foot = f"You answer as {offer.to}. The link is yours alone, and good until {moment(offer.expires)}."
    return AnswerPage(
        code=verdict.code,
        tone=tones[verdict.standing],
        title=verdict.title,
        says=verdict.says,
        notes=verdict.notes,
        facts=verdict.facts,
        button=verdict.button if opened else "",
        instead=verdict.instead,
        command=verdict.command,
        foot=foot
        if opened
        else f"{verdict.changed or 'Nothing was changed.'} The message was to {offer.to}.",
    )


def _given(given: AnswerGiven) -> AnswerPage:
    used = given.used
    again = f"This was answered at {moment(used.at)} by {used.offer.to}, and nothing was done again."
    about = {"Answer": ANSWERED[used.offer.way], "Job": used.offer.job, "By": used.offer.to}
    outcome = used.outcome if given.repeated else ""
    return AnswerPage(
        code=200,
        tone=Tone.GOOD,
        title="Answered already" if given.repeated else "Done",
        says=again if given.repeated else _sentence(used.outcome),
        notes=(_sentence(used.note),) if used.note else (),
        facts=tuple(
            (word, text)
            for word, text in (*about.items(), ("At", moment(used.at)), ("Outcome", outcome))
            if text
        ),
        foot="You can close this page.",
    )


def _preferences(preferences: PreferencesShown) -> AnswerPage:
    if preferences.saved and preferences.pace is not None:
        says = f"News now reaches you {_PACES[preferences.pace][0].lower()}. {AT_ONCE}"
    elif preferences.pace is None:
        says = f"{AT_ONCE} News is gathered for {span(preferences.digest)}, unless you choose here."
    else:
        says = AT_ONCE
    return AnswerPage(
        code=200,
        tone=Tone.GOOD if preferences.saved else Tone.ASKS,
        title="Saved" if preferences.saved else "How often do you want to hear?",
        says=says,
        questions=_questions(preferences),
        button="Save",
        foot=f"This is about messages to {preferences.preference_offer.to}. The link is yours alone.",
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
    return (
        Question(legend="News, such as that a job is back, comes", name="pace", choices=paces, needed=True),
        Question(legend="The report of the week", name="weekly", choices=weekly),
    )


def _unfit(unfit: Unfit) -> AnswerPage:
    code, title, says = _UNFIT[unfit]
    return AnswerPage(
        code=code,
        tone=Tone.BAD,
        title=title,
        says=f"{says} Nothing was changed.",
        instead="Open the link of the newest message, or answer by command; this shows what is open:",
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
