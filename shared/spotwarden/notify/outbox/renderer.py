"""Who writes messages: words, links and signatures put together."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import partial

import msgspec

from spotwarden.engine.settings import Settings
from spotwarden.model.delivery import Channel, Pending, Preference
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.message import MailLinks, Message, Shape
from spotwarden.model.offer import Offer, PreferenceOffer
from spotwarden.model.policy import Policy, Team
from spotwarden.model.threads import Threads
from spotwarden.notify import templates as messages
from spotwarden.notify.channels.settings import ChannelSettings
from spotwarden.notify.links.audience import audience
from spotwarden.notify.links.offers import offers
from spotwarden.notify.links.tokens import VARIABLE, Keys, sign
from spotwarden.notify.reader_threads import reader_threads
from spotwarden.notify.reader_zone import reader_zone

PREFERENCE_LINK_LASTS = timedelta(days=90)
"""How long the link to one's preferences holds: whoever cleans up his mail is to find it good."""

NOWHERE = "spotwarden.invalid"
"""What message ids end with where there is no mail server: a domain that cannot exist."""


class Renderer(msgspec.Struct, frozen=True, kw_only=True):
    """Writes messages for one deployment. Without `answers`, the URL of answer_notice, none can be answered.

    `report` is where the report page stands, if not where the limits say. `teams`, and people of the limits,
    may be in other time zones; `own` is what the reader has chosen.
    """

    limits: NotifyLimits
    own: Preference | None = None
    teams: Mapping[str, Team] = {}
    answers: str = ""
    report: str = ""
    keys: Keys | None = None
    shapes: Mapping[str, Shape] = {}
    domain: str = NOWHERE

    @classmethod
    def open(
        cls, settings: Settings, policy: Policy, channels: ChannelSettings, environ: Mapping[str, str]
    ) -> "Renderer":
        """From the environment; without the URL of answer_notice mails hold no links.

        Raises:
            KeysError: the signing keys are not fit to sign with.
        """
        answers = environ.get("SPOTWARDEN_ANSWERS", "")
        sender = channels.smtp.sender.domain if channels.smtp else ""
        return cls(
            limits=policy.notify,
            teams=policy.teams,
            answers=answers,
            report=environ.get("SPOTWARDEN_REPORT", ""),
            keys=Keys.read(environ.get(VARIABLE, ""), audience(settings)) if answers else None,
            shapes=channels.shapes,
            domain=sender or NOWHERE,
        )

    def render(
        self,
        pendings: Sequence[Pending],
        message_id: str,
        at: datetime,
        again: bool,  # noqa: FBT001 — as the port has it
    ) -> Message:
        """One message that tells all of these to their one recipient."""
        to = pendings[0].recipient
        if to.channel is Channel.EMAIL:
            links = self._links(pendings, to.address, at)
            return messages.mail(
                pendings,
                links=links,
                message_id=message_id,
                at=at,
                again=again,
                zone=self._zone(to.address),
                threads=self._threads(to.address),
            )
        shape = self.shapes.get(to.address, Shape.JSON)
        zone = self._zone(to.address)
        return messages.hook(pendings, shape=shape, id=message_id, at=at, again=again, zone=zone)

    def _zone(self, address: str) -> tzinfo:
        return reader_zone(address, self.limits, self.teams, self.own.timezone if self.own else "")

    def _threads(self, address: str) -> Threads:
        return reader_threads(address, self.limits, self.teams, self.own.threads if self.own else None)

    def _links(self, pendings: Sequence[Pending], to: str, at: datetime) -> MailLinks:
        report = self.report or self.limits.report
        if not self.answers or self.keys is None:
            return MailLinks(report=report)
        link = partial(self._link, self.keys)
        preferences_link = link(PreferenceOffer(to=to, expires=at + PREFERENCE_LINK_LASTS))
        return MailLinks(
            offers={
                pending.notice.id: tuple((offer.way, link(offer)) for offer in made)
                for pending in pendings
                if (made := offers(pending.notice, to, self.limits, at))
            },
            report=report,
            preferences=preferences_link,
            unsubscribe=preferences_link,
            keep=self.limits.keep,
            extend=self.limits.extend,
        )

    def _link(self, keys: Keys, what: Offer | PreferenceOffer) -> str:
        return f"{self.answers}?t={sign(what, keys)}"
