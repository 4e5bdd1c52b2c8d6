"""The report's pages over real HTTP on this machine, made of a made-up fleet, with the real headers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from urllib.parse import unquote

import msgspec
from werkzeug.datastructures import MultiDict
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from spotwarden.report import assets
from spotwarden.report import views as pages
from spotwarden.report.model.job import JobReport
from spotwarden.report.model.trust import AuditQuery
from tests.pages import report_made_up as made_up


class Site:
    """Answers for `report_jobs`; `table` may be replaced, `asked` says what was asked for."""

    def __init__(self) -> None:
        self.table = made_up.table(40)
        self.asked: list[str] = []

    def frame(self, args: Mapping[str, str]) -> pages.PageFrame:
        """The frame of a page."""
        return pages.PageFrame(
            updated=made_up.NOW,
            zone=args.get("tz") or "UTC",
            assets=assets.names(),
            project="my-project",
            bucket="jobs",
        )

    def answer(self, request: Request) -> Response:
        """Answer one request."""
        self.asked.append(request.full_path)
        if request.path.startswith("/assets/"):
            asset = assets.served(request.path.removeprefix("/assets/"))
            return Response(asset.body, content_type=asset.kind) if asset else Response("", 404)
        return Response(self.page(request.path, request.args), headers=dict(pages.HEADERS))

    def page(self, path: str, args: MultiDict[str, str]) -> str:
        """The HTML at a path."""
        frame = self.frame(args)
        if path == "/":
            return pages.experiments(self.table, pages.TableQuery.read(args), frame)
        if path.startswith("/jobs/"):
            name = unquote(path.removeprefix("/jobs/"))
            row = next(row for row in self.table.rows if row.job == name)
            empty = JobReport(at=made_up.NOW, experiment=row)
            return pages.job(empty if row == made_up.UNSAID else made_up.job_report(experiment=row), frame)
        if path == "/fleet":
            return pages.fleet(made_up.fleet_view(), frame, args.get("unit", ""))
        if path == "/trust":
            query = AuditQuery(about=args.get("about", ""), text=args.get("text", ""))
            because = {"answer": "Deleted by reap_vms: its job has ended.", "by": "d3"} if query.about else {}
            return pages.trust(made_up.trust_view(query, 4, **because), frame)
        if path == "/compare":
            numbers = [int(job.removeprefix("train-")) for job in args.getlist("job")]
            return pages.compare(made_up.comparison(*numbers), frame)
        frame = msgspec.structs.replace(frame, depth=path.removeprefix("/").count("/"))
        return pages.trouble("There is no such page", "Perhaps its address was cut.", frame)


class Quiet(WSGIRequestHandler):
    """Does not write down each request."""

    def log(self, *_args: object, **_kwargs: object) -> None:
        """Say nothing: a test's output is for its failure."""


@contextmanager
def serving(site: Site) -> Iterator[str]:
    """Serve it; gives its address."""
    server = make_server(
        "127.0.0.1", 0, Request.application(site.answer), threaded=True, request_handler=Quiet
    )
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
