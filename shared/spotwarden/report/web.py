"""A request for the report, and what answers it. Nothing here changes anything."""

import gzip
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import msgspec

from spotwarden import typed
from spotwarden.engine.context import SweepContext
from spotwarden.layout import job_problem
from spotwarden.model.opening import zone_of
from spotwarden.report import assets, rendering
from spotwarden.report.lookup import ReportLookup
from spotwarden.report.model.experiments import Experiments
from spotwarden.report.model.trust import AuditQuery
from spotwarden.report.model.view import PageScene, View
from spotwarden.report.store import ReportStore

if TYPE_CHECKING:
    from werkzeug.wrappers import Request, Response

typed.prepare(Any)

METHODS = ("GET", "HEAD")
LARGEST = 1024 * 1024
"""Bytes of a push; a tick has a few hundred."""
LONGEST = 4_096
"""Bytes of a query: what is longer was not made by a page of ours."""
MOST_DAYS = 400
USUAL_DAYS = 7
COMPARED = 4
KINDS = {"json": "application/json", "csv": "text/csv; charset=utf-8"}
KEEP = "private, no-cache"
"""A browser may keep a page, and asks each time whether it is still the same."""
SMALL = 1_024
"""Bytes below which nothing is won by packing."""
LEVEL = 4
"""Of gzip: a table of 10,000 jobs takes a third of the time of level 9, and a twentieth more bytes."""
_DAY = timedelta(days=1)


class Answer(NamedTuple):
    """What goes back."""

    code: int
    body: bytes
    headers: Mapping[str, str]


def ticked(request: "Request") -> Mapping[str, Any] | None:
    """The message that Pub/Sub pushes (Google: "Push subscriptions"); None for any other request.

    Raises:
        BadRequest: a POST of what is not valid JSON.
    """
    if request.method != "POST" or (request.content_length or LARGEST) >= LARGEST:
        return None
    try:
        body = typed.decode(request.get_data(), Any)
    except msgspec.DecodeError as problem:
        from werkzeug.exceptions import BadRequest

        raise BadRequest(f"This is not valid JSON: {problem}") from problem
    message = body.get("message") if isinstance(body, dict) else None
    return message if isinstance(message, dict) else None


def respond(request: "Request", context: SweepContext) -> "Response":
    """The page, figures or file that the address names, packed where the browser takes it so.

    One that is the same as the browser's is not sent.
    """
    from werkzeug.wrappers import Response

    shelf = ReportStore(context.cloud.store, context.settings.layout)
    looker = ReportLookup.open(shelf, context.policy, context.settings.prices_file, context.tick.now)
    code, body, headers = answer(request, context, looker)
    response = Response(body, status=code, headers={**dict(rendering.headers()), **headers})
    response.vary.add("Accept-Encoding")
    packs = len(body) >= SMALL and request.accept_encodings.quality("gzip") > 0
    if code == HTTPStatus.OK:
        # Packed it is another representation, with a tag of its own (RFC 9110, 8.8.3.3).
        response.set_etag(sha256(body).hexdigest()[:32] + ("-gzip" if packs else ""))
        response.make_conditional(request)
    if packs and response.status_code != HTTPStatus.NOT_MODIFIED:
        response.set_data(gzip.compress(body, LEVEL, mtime=0))
        response.content_encoding = "gzip"
    return response


def answer(request: "Request", context: SweepContext, looker: ReportLookup) -> Answer:
    """What the address asks for."""
    scene = _scene(request, context, looker)
    if request.method not in METHODS:
        says = "This page only shows the report. Answer a message with its link or its command."
        return _trouble(405, "This request isn't supported", says, scene)
    if len(request.query_string) > LONGEST:
        return _trouble(414, "The address is too long", "Check that the link was copied correctly.", scene)
    path = unquote(request.path).strip("/")
    if path.startswith("assets/"):
        return _asset(path.removeprefix("assets/"), scene)
    page, _, kind = (
        path.rpartition(".") if path.endswith(tuple(f".{item}" for item in KINDS)) else (path, "", "")
    )
    made = _view(page, request, looker)
    if isinstance(made, str):
        return _trouble(404 if page.startswith("jobs/") else 400, "Page not found", made, scene)
    return _unknown(scene) if made is None else _shown(made, kind, scene)


def _scene(request: "Request", context: SweepContext, looker: ReportLookup) -> PageScene:
    return PageScene(
        now=looker.now,
        asked={name: request.args.get(name, "") for name in list(request.args)[:100]},
        home=context.policy.notify.timezone,
        updated=looker.at,
        part=looker.part,
        assets=assets.names(),
        bucket=context.settings.bucket,
        project=context.settings.project,
        depth=request.path.removeprefix("/").count("/"),
    )


def _view(page: str, request: "Request", looker: ReportLookup) -> View | str | None:
    """The view of this name; what is wrong with the address, or None where nothing has this name."""
    if page.startswith("jobs/"):
        return _job(page.removeprefix("jobs/"), looker)
    makers: Mapping[str, Callable[[Request, ReportLookup], View | str]] = {
        "": _experiments,
        "index": _experiments,
        "experiments": _experiments,
        "fleet": _fleet,
        "trust": _trust,
        "compare": _compare,
    }
    return makers[page](request, looker) if page in makers else None


def _experiments(_request: "Request", looker: ReportLookup) -> View:
    return looker.experiments()


def _job(job: str, looker: ReportLookup) -> View | str:
    report = looker.job(job) if job_problem(job) is None else None
    return report or f"Unknown job {job[:80]!r}. A new job appears here within 10 minutes."


def _fleet(request: "Request", looker: ReportLookup) -> View | str:
    """The days from `first` to `last`, else the last so many `days`, today included."""
    args = request.args
    today = looker.now.astimezone(zone_of(looker.policy.notify.timezone)).date()
    try:
        days = int(args.get("days") or USUAL_DAYS)
        last = date.fromisoformat(args["last"]) if args.get("last") else today
        first = date.fromisoformat(args["first"]) if args.get("first") else last - (days - 1) * _DAY
    except (ValueError, OverflowError):
        return "Write days as 2026-12-31, and their count as a number."
    if not 0 <= (last - first).days < MOST_DAYS:
        return f"The first day must not be after the last, and at most {MOST_DAYS} days can be shown."
    return looker.fleet(first, last, args.get("owner", "")[:500])


def _trust(request: "Request", looker: ReportLookup) -> View | str:
    args = request.args
    try:
        day = date.fromisoformat(args["day"]) if args.get("day") else None
    except ValueError:
        return "Write the day as 2026-12-31."
    said = {
        name: args.get(name, "").strip()[:500] for name in ("about", "rule", "function", "action", "text")
    }
    return looker.trust(AuditQuery(**said, day=day, changes=args.get("changes", "") not in ("", "0")))


def _compare(request: "Request", looker: ReportLookup) -> View:
    named = [job for job in request.args.getlist("job") if job_problem(job) is None]
    return looker.comparison(tuple(dict.fromkeys(named))[:COMPARED])


def _shown(view: View, kind: str, scene: PageScene) -> Answer:
    if not kind:
        return Answer(200, rendering.page(view, scene).encode(), {"Cache-Control": KEEP})
    if isinstance(view, Experiments):
        view = rendering.chosen(view, scene.asked)
    body = rendering.as_json(view) if kind == "json" else rendering.as_csv(view)
    headers = {"Content-Type": KINDS[kind], "Cache-Control": KEEP}
    if kind == "csv":
        headers["Content-Disposition"] = f'attachment; filename="{rendering.file_name(view, kind)}"'
    return Answer(200, body, headers)


def _asset(name: str, scene: PageScene) -> Answer:
    found = assets.served(name)
    if found is None:
        return _unknown(scene)
    return Answer(200, found.body, {"Content-Type": found.kind, "Cache-Control": assets.KEPT})


def _unknown(scene: PageScene) -> Answer:
    says = "The report has these pages: experiments, fleet, audit, and one for each job."
    return _trouble(404, "Page not found", says, scene)


def _trouble(code: int, title: str, says: str, scene: PageScene) -> Answer:
    html = rendering.trouble(title, says, scene)
    more = {"Allow": ", ".join(METHODS)} if code == HTTPStatus.METHOD_NOT_ALLOWED else {}
    return Answer(code, html.encode(), {"Cache-Control": "no-store", **more})
