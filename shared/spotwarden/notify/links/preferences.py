"""How often a person wants to hear of what is only news, on which clock, and under which subjects."""

from datetime import tzinfo

import msgspec
from msgspec.structs import replace

from spotwarden import typed
from spotwarden.engine.context import SweepContext
from spotwarden.engine.decoding import decoded
from spotwarden.layout import PreferenceRecord, person_key
from spotwarden.model.action import StoreObject
from spotwarden.model.delivery import Pace, Preference
from spotwarden.model.offer import PreferenceOffer
from spotwarden.model.opening import is_zone
from spotwarden.model.outcome import Done
from spotwarden.model.threads import Threads
from spotwarden.notify.links.reply import AnswerFailed, AnswerTrouble, PreferencesShown, Reply
from spotwarden.notify.reader_threads import reader_threads
from spotwarden.notify.reader_zone import reader_zone
from spotwarden.ports import BrokenError, UnansweredError

typed.prepare(Preference)


def show_preference(context: SweepContext, preference_offer: PreferenceOffer) -> Reply:
    """What this person has asked for so far; nothing is changed."""
    said = _stored(context, preference_offer.to)
    if said is None:
        return PreferencesShown(
            preference_offer=preference_offer,
            pace=None,
            threads=_threads(context, preference_offer.to),
            digest=context.policy.notify.digest,
        )
    return _shown(context, preference_offer, said)


def save_preference(context: SweepContext, preference_offer: PreferenceOffer, wanted: Preference) -> Reply:
    """Write down what this person asks for; a second click writes the same. An unknown zone saves nothing.

    Threads that the policy has for them anyway are no choice of theirs: they follow the policy's changes.
    """
    usual = _threads(context, preference_offer.to)
    said = replace(wanted, threads=None) if wanted.threads is usual else wanted
    if said.timezone and not is_zone(said.timezone):
        return _shown(context, preference_offer, said, unknown=True)
    return _save(context, preference_offer, said)


def unsubscribe(context: SweepContext, preference_offer: PreferenceOffer) -> Reply:
    """One message a day, and no report, is the least; the clock and the subjects stay."""
    try:
        said = _stored(context, preference_offer.to)
    except BrokenError:
        said = None
    least = Preference(pace=Pace.DAILY, weekly=False, at=context.tick.now)
    if said is not None:
        least = replace(least, timezone=said.timezone, threads=said.threads)
    return _save(context, preference_offer, least)


def zone_for(context: SweepContext, to: str) -> tzinfo:
    """The clock of whoever answers, as in their mails; a choice that can't be read now does not count."""
    try:
        said = _stored(context, to)
    except (BrokenError, UnansweredError):
        said = None
    policy = context.policy
    return reader_zone(to, policy.notify, policy.teams, said.timezone if said else "")


def _threads(context: SweepContext, to: str, own: Threads | None = None) -> Threads:
    return reader_threads(to, context.policy.notify, context.policy.teams, own)


def _save(context: SweepContext, preference_offer: PreferenceOffer, said: Preference) -> Reply:
    data = msgspec.json.format(msgspec.json.encode(said))
    weekly = "" if said.weekly else ", no weekly report"
    zone = f", times in {said.timezone}" if said.timezone else ""
    threads = f", subjects by {said.threads.value}" if said.threads else ""
    step = StoreObject(
        reason=f"{preference_offer.to} wants to hear: {said.pace.value}{weekly}{zone}{threads}",
        job="",
        name=_name(context, preference_offer.to),
        data=data,
        content_type="application/json",
    )
    if isinstance(context.executor.apply(step), Done):
        return _shown(context, preference_offer, said, saved=True)
    return AnswerFailed(trouble=AnswerTrouble.UNSURE)


def _shown(
    context: SweepContext,
    preference_offer: PreferenceOffer,
    said: Preference,
    *,
    saved: bool = False,
    unknown: bool = False,
) -> PreferencesShown:
    return PreferencesShown(
        preference_offer=preference_offer,
        pace=said.pace,
        weekly=said.weekly,
        timezone=said.timezone,
        threads=_threads(context, preference_offer.to, said.threads),
        digest=context.policy.notify.digest,
        saved=saved,
        unknown=unknown,
    )


def _stored(context: SweepContext, to: str) -> Preference | None:
    name = _name(context, to)
    stored = context.cloud.store.read(name)
    return decoded(name, stored.data, Preference) if stored else None


def _name(context: SweepContext, to: str) -> str:
    return context.settings.layout.build(PreferenceRecord(person=person_key(to)))
