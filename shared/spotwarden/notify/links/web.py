"""A request of the web, and the page that answers it. Nothing but a POST changes anything."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING

from spotwarden import clock
from spotwarden.engine.context import SweepContext
from spotwarden.engine.entry import Connect, open_context
from spotwarden.engine.log import log
from spotwarden.engine.policy_file.reading import PolicyError
from spotwarden.engine.settings import Settings
from spotwarden.model.delivery import Pace, Preference
from spotwarden.model.offer import Offer, PreferenceOffer, Unfit, UsedAnswer
from spotwarden.model.threads import Threads
from spotwarden.model.tick import Tick
from spotwarden.notify.links.audience import audience
from spotwarden.notify.links.pages import headers, render
from spotwarden.notify.links.preferences import save_preference, show_preference, unsubscribe, zone_for
from spotwarden.notify.links.reply import AnswerFailed, AnswerGiven, AnswerShown, AnswerTrouble, Reply
from spotwarden.notify.links.taking import AnswerRequest, broken, give, show
from spotwarden.notify.links.tokens import VARIABLE, Keys, read
from spotwarden.notify.templates.parts import Moments
from spotwarden.ports import BrokenError, UnansweredError

if TYPE_CHECKING:
    from werkzeug.wrappers import Request, Response

MOST_BYTES = 8 * 1024
"""Of a POST: four times what the longest token has."""
LONGEST_ZONE = 64
"""Characters of a time zone's name: the longest has 32."""
FIELD = "t"
"""What carries the token, in an address or in a form."""
ONE_CLICK = ("List-Unsubscribe", "One-Click")
"""What a mail program posts when its reader unsubscribes there (RFC 8058)."""
FUNCTION = "answer_notice"
METHODS = ("GET", "HEAD", "POST")


def answer(request: "Request", environ: Mapping[str, str], connect: Connect) -> "Response":
    """The page for this request, also where the policy is broken: nothing is answered by half of one."""
    try:
        context = open_context(FUNCTION, {}, environ, connect)
    except PolicyError as error:
        now = clock.now()
        log(Tick(function=FUNCTION, sweep="", now=now), "ERROR", f"No answer can be taken: {error}")
        return _sent(_without_policy(request, environ, error, now), "")
    return respond(request, context, environ)


def _without_policy(
    request: "Request", environ: Mapping[str, str], error: PolicyError, now: datetime
) -> AnswerFailed:
    """Say what is wrong to whoever has a link of ours; to anybody else only that something is."""
    keys = Keys.read(environ.get(VARIABLE, ""), audience(Settings.read(environ)))
    tokens = request.args.getlist(FIELD)
    if request.method == "POST" and _bounded(request):
        tokens = [*tokens, *request.form.getlist(FIELD)]
    token = _only(tokens)
    known = bool(token) and not isinstance(read(token, keys=keys, now=now), Unfit)
    return AnswerFailed(trouble=AnswerTrouble.POLICY, detail=str(error) if known else "")


def respond(
    request: "Request",
    context: SweepContext,
    environ: Mapping[str, str],
    pause: Callable[[float], None] = time.sleep,
) -> "Response":
    """The page for this request; its token is neither logged nor told to anybody."""
    keys = Keys.read(environ.get(VARIABLE, ""), audience(context.settings))
    reply, token = _reply(request, AnswerRequest(context, keys, pause))
    return _sent(reply, token, _moments(reply, context))


def _moments(reply: Reply, context: SweepContext) -> Moments | None:
    """How its reader is told times; None for a page that tells none."""
    match reply:
        case AnswerShown(offer=offer) | AnswerGiven(used=UsedAnswer(offer=offer)):
            return Moments(context.tick.now, zone_for(context, offer.to))
        case _:
            return None


def _sent(reply: Reply, token: str, moments: Moments | None = None) -> "Response":
    from werkzeug.wrappers import Response

    page = render(reply, token, moments)
    more = {"Allow": ", ".join(METHODS)} if page.code == HTTPStatus.METHOD_NOT_ALLOWED else {}
    return Response(page.html, status=page.code, headers={**headers(), **more})


def _reply(request: "Request", answer_request: AnswerRequest) -> tuple[Reply, str]:
    """What to show, and the token for its form."""
    if request.method not in METHODS:
        return AnswerFailed(trouble=AnswerTrouble.METHOD), ""
    if request.method != "POST":
        token = _only(request.args.getlist(FIELD))
        return _guarded(answer_request, token, lambda what: _look(answer_request, what)), token
    return (
        _post(request, answer_request)
        if _bounded(request)
        else (AnswerFailed(trouble=AnswerTrouble.LARGE), "")
    )


def _bounded(request: "Request") -> bool:
    """Whether the body is no larger than it may be; of one that is no more is read, here or by the framework.

    functions-framework reads every body to its end once a function has answered.
    """
    from werkzeug.exceptions import RequestEntityTooLarge

    try:
        body = request.stream.read(MOST_BYTES + 1)
    except RequestEntityTooLarge:
        body = None
    fits = body is not None and len(body) <= MOST_BYTES
    request.stream = BytesIO(body if fits and body else b"")
    return fits


def _post(request: "Request", answer_request: AnswerRequest) -> tuple[Reply, str]:
    form = request.form
    if form.get(ONE_CLICK[0]) == ONE_CLICK[1]:
        token = _only(request.args.getlist(FIELD))
        return _guarded(answer_request, token, lambda what: _unsubscribe(answer_request, what)), token
    token = _only(form.getlist(FIELD))
    return _guarded(answer_request, token, lambda what: _click(answer_request, what, form)), token


def _only(tokens: list[str]) -> str:
    """The one token; "" for none, and for several, of which nobody knows which is meant."""
    return tokens[0] if len(tokens) == 1 else ""


def _guarded(
    answer_request: AnswerRequest, token: str, do: Callable[[Offer | PreferenceOffer], Reply]
) -> Reply:
    """Read the token and do it; what goes wrong outside of us is a page, too."""
    if not token:
        return AnswerFailed(trouble=AnswerTrouble.MISSING)
    what = read(token, keys=answer_request.keys, now=answer_request.now)
    if isinstance(what, Unfit):
        return what
    try:
        return do(what)
    except UnansweredError:
        return AnswerFailed(trouble=AnswerTrouble.SILENT)
    except BrokenError as error:
        return broken(answer_request, error)


def _look(answer_request: AnswerRequest, what: Offer | PreferenceOffer) -> Reply:
    return (
        show_preference(answer_request.context, what)
        if isinstance(what, PreferenceOffer)
        else show(answer_request, what)
    )


def _click(answer_request: AnswerRequest, what: Offer | PreferenceOffer, form: Mapping[str, str]) -> Reply:
    if isinstance(what, Offer):
        return give(answer_request, what)
    chosen = next((pace for pace in Pace if pace.value == form.get("pace", "")), None)
    if chosen is None:
        return show_preference(answer_request.context, what)
    wanted = Preference(
        pace=chosen,
        at=answer_request.now,
        weekly=form.get("weekly", "yes") != "no",
        timezone=form.get("timezone", "").strip()[:LONGEST_ZONE],
        threads=next((threads for threads in Threads if threads.value == form.get("threads", "")), None),
    )
    return save_preference(answer_request.context, what, wanted)


def _unsubscribe(answer_request: AnswerRequest, what: Offer | PreferenceOffer) -> Reply:
    """A mail program's button answers no case."""
    return Unfit.BROKEN if isinstance(what, Offer) else unsubscribe(answer_request.context, what)
