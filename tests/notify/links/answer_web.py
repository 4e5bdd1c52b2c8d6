"""A person with a browser, in front of answer_notice: links, looks and clicks."""

from base64 import urlsafe_b64encode
from itertools import count
from typing import Any
from urllib.parse import urlencode

import msgspec
from werkzeug.test import Client, TestResponse
from werkzeug.wrappers import Request, Response

from spotwarden.engine.context import SweepContext
from spotwarden.layout import UsedOffer
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.notice import Notice, Way
from spotwarden.model.offer import Offer, PreferenceOffer, UsedAnswer
from spotwarden.model.tick import Tick
from spotwarden.notify.links.audience import audience
from spotwarden.notify.links.offers import offers
from spotwarden.notify.links.tokens import VARIABLE, Keys, sign
from spotwarden.notify.links.web import respond
from spotwarden.ports import Cloud

SECRET = "k1:" + urlsafe_b64encode(b"a secret that nobody else can know").decode()
ADA = "ada@x.org"


class Web:
    """The function in front of a world in memory; `cloud` is what it sees, if not the world's own."""

    def __init__(self, world: Any, limits: NotifyLimits = NotifyLimits()) -> None:
        self.world = world
        self.limits = limits
        self.keys = Keys.read(SECRET, audience(world.settings))
        self.cloud: Cloud | None = None
        self._clicks = count(1)
        self._client = Client(Request.application(self._respond))

    @property
    def now(self) -> Any:
        """The present moment."""
        return self.world.cloud.clock.now()

    def _respond(self, request: Request) -> Response:
        tick = Tick(function="answer_notice", sweep=f"click-{next(self._clicks):04}", now=self.now)
        cloud = self.cloud or self.world.cloud.ports()
        context = SweepContext.open(cloud, self.world.settings, self.world.policy, tick)
        return respond(request, context, {VARIABLE: SECRET}, lambda seconds: self.world.wait(seconds=seconds))

    def offer(self, way: Way, notice: Notice | None = None, to: str = ADA) -> Offer:
        """What the message about a notice, or about the newest one that can be answered so, lets `to` do."""
        told = [one for one in self.told() if way in one.ways]
        found = offers(notice or told[-1], to, self.limits, self.now)
        return next(one for one in found if one.way is way)

    def told(self) -> list[Notice]:
        """Every notice that was published."""
        return [msgspec.json.decode(one.data, type=Notice) for one in self.world.cloud.notices.messages]

    def token(self, what: Offer | PreferenceOffer | Way) -> str:
        """The token of a link."""
        return sign(self.offer(what) if isinstance(what, Way) else what, self.keys)

    def open(self, token: str, method: str = "GET", **headers: str) -> TestResponse:
        """Open a link."""
        return self._client.open(f"/?{urlencode({'t': token})}", method=method, headers=headers)

    def click(self, token: str, **form: str) -> TestResponse:
        """Press the button of the page that a link opens."""
        return self._client.post("/?", data={"t": token, **form})

    def send(self, path: str = "/", **request: Any) -> TestResponse:
        """Any other request."""
        return self._client.open(path, **request)

    def used(self, offer: Offer) -> UsedAnswer | None:
        """The record of an answer."""
        stored = self.world.cloud.store.read(self.world.layout.build(UsedOffer(entry=offer.id)))
        return None if stored is None else msgspec.json.decode(stored.data, type=UsedAnswer)

    def audit(self) -> list[Any]:
        """What the function has written down of its actions."""
        store = self.world.cloud.store
        names = [one.name for one in store.entries("spotwarden/audit/") if "answer_notice" in one.name]
        found = [store.read(name) for name in names]
        return [record for one in found if one for record in msgspec.json.decode(one.data)]
