"""How often a person wants to hear of what is only news, and on which clock."""

from datetime import timedelta, tzinfo

import msgspec

from spotwarden import typed
from spotwarden.engine.context import SweepContext
from spotwarden.engine.decoding import decoded
from spotwarden.layout import PreferenceRecord, person_key
from spotwarden.model.action import StoreObject
from spotwarden.model.delivery import Pace, Preference
from spotwarden.model.offer import PreferenceOffer
from spotwarden.model.opening import is_zone
from spotwarden.model.outcome import Done
from spotwarden.notify.links.reply import AnswerFailed, AnswerTrouble, PreferencesShown, Reply
from spotwarden.notify.reader_zone import reader_zone
from spotwarden.ports import BrokenError, UnansweredError

typed.prepare(Preference)


def show_preference(context: SweepContext, preference_offer: PreferenceOffer) -> Reply:
    """What this person has asked for so far; nothing is changed."""
    digest = context.policy.notify.digest
    said = _stored(context, preference_offer.to)
    if said is None:
        return PreferencesShown(preference_offer=preference_offer, pace=None, digest=digest)
    return _shown(preference_offer, said, digest)


def save_preference(
    context: SweepContext, preference_offer: PreferenceOffer, pace: Pace, *, weekly: bool, timezone: str
) -> Reply:
    """Write down what this person asks for; a second click writes the same. An unknown zone saves nothing."""
    said = Preference(pace=pace, weekly=weekly, at=context.tick.now, timezone=timezone)
    if timezone and not is_zone(timezone):
        return _shown(preference_offer, said, context.policy.notify.digest, unknown=True)
    return _save(context, preference_offer, said)


def unsubscribe(context: SweepContext, preference_offer: PreferenceOffer) -> Reply:
    """One message a day, and no report, is the least; the clock stays."""
    try:
        said = _stored(context, preference_offer.to)
    except BrokenError:
        said = None
    timezone = said.timezone if said else ""
    least = Preference(pace=Pace.DAILY, weekly=False, at=context.tick.now, timezone=timezone)
    return _save(context, preference_offer, least)


def zone_for(context: SweepContext, to: str) -> tzinfo:
    """The clock of whoever answers, as in their mails; a choice that can't be read now does not count."""
    try:
        said = _stored(context, to)
    except (BrokenError, UnansweredError):
        said = None
    policy = context.policy
    return reader_zone(to, policy.notify, policy.teams, said.timezone if said else "")


def _save(context: SweepContext, preference_offer: PreferenceOffer, said: Preference) -> Reply:
    data = msgspec.json.format(msgspec.json.encode(said))
    weekly = "" if said.weekly else ", no weekly report"
    zone = f", times in {said.timezone}" if said.timezone else ""
    step = StoreObject(
        reason=f"{preference_offer.to} wants to hear: {said.pace.value}{weekly}{zone}",
        job="",
        name=_name(context, preference_offer.to),
        data=data,
        content_type="application/json",
    )
    if isinstance(context.executor.apply(step), Done):
        return _shown(preference_offer, said, context.policy.notify.digest, saved=True)
    return AnswerFailed(trouble=AnswerTrouble.UNSURE)


def _shown(
    preference_offer: PreferenceOffer,
    said: Preference,
    digest: timedelta,
    *,
    saved: bool = False,
    unknown: bool = False,
) -> PreferencesShown:
    return PreferencesShown(
        preference_offer=preference_offer,
        pace=said.pace,
        weekly=said.weekly,
        timezone=said.timezone,
        digest=digest,
        saved=saved,
        unknown=unknown,
    )


def _stored(context: SweepContext, to: str) -> Preference | None:
    name = _name(context, to)
    stored = context.cloud.store.read(name)
    return decoded(name, stored.data, Preference) if stored else None


def _name(context: SweepContext, to: str) -> str:
    return context.settings.layout.build(PreferenceRecord(person=person_key(to)))
