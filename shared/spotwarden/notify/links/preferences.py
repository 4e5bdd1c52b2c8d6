"""How often a person wants to hear of what is only news."""

import msgspec

from spotwarden import typed
from spotwarden.engine.context import SweepContext
from spotwarden.engine.decoding import decoded
from spotwarden.layout import PreferenceRecord, person_key
from spotwarden.model.action import StoreObject
from spotwarden.model.delivery import Pace, Preference
from spotwarden.model.offer import PreferenceOffer
from spotwarden.model.outcome import Done
from spotwarden.notify.links.reply import AnswerFailed, AnswerTrouble, PreferencesShown, Reply

typed.prepare(Preference)


def show_preference(context: SweepContext, preference_offer: PreferenceOffer) -> Reply:
    """What this person has asked for so far; nothing is changed."""
    name = _name(context, preference_offer)
    stored = context.cloud.store.read(name)
    said = decoded(name, stored.data, Preference) if stored else None
    pace, weekly = (said.pace, said.weekly) if said else (None, None)
    return PreferencesShown(
        preference_offer=preference_offer, pace=pace, weekly=weekly, digest=context.policy.notify.digest
    )


def save_preference(
    context: SweepContext, preference_offer: PreferenceOffer, pace: Pace, *, weekly: bool
) -> Reply:
    """Write down what this person asks for; a second click writes the same."""
    said = Preference(pace=pace, weekly=weekly, at=context.tick.now)
    data = msgspec.json.format(msgspec.json.encode(said))
    step = StoreObject(
        reason=f"{preference_offer.to} wants to hear: {pace.value}{'' if weekly else ', no weekly report'}",
        job="",
        name=_name(context, preference_offer),
        data=data,
        content_type="application/json",
    )
    if isinstance(context.executor.apply(step), Done):
        digest = context.policy.notify.digest
        return PreferencesShown(
            preference_offer=preference_offer, pace=pace, weekly=weekly, digest=digest, saved=True
        )
    return AnswerFailed(trouble=AnswerTrouble.UNSURE)


def _name(context: SweepContext, preference_offer: PreferenceOffer) -> str:
    return context.settings.layout.build(PreferenceRecord(person=person_key(preference_offer.to)))
