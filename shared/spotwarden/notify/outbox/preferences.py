"""What a person has asked for, as the outbox reads it."""

from spotwarden import typed
from spotwarden.engine.decoding import decoded
from spotwarden.layout import Layout, PreferenceRecord, person_key
from spotwarden.model.delivery import Channel, Preference, Recipient
from spotwarden.ports import Store

typed.prepare(Preference)


def preference(store: Store, layout: Layout, recipient: Recipient) -> Preference | None:
    """What this person has said; None for nothing, and for a hook. `BrokenError` where it cannot be read."""
    if recipient.channel is not Channel.EMAIL:
        return None
    name = layout.build(PreferenceRecord(person=person_key(recipient.address)))
    stored = store.read(name)
    return decoded(name, stored.data, Preference) if stored else None
