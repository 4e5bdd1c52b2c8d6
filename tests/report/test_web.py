"""The report's addresses: what each answers, with which headers, and that nothing else is done there."""

import gzip
import json

import pytest
from werkzeug.exceptions import BadRequest
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from spotwarden.report import assets
from spotwarden.report.rendering import zone_in
from spotwarden.report.web import LARGEST, ticked
from tests.report.report_world import HOUR, ReportWorld


@pytest.fixture(scope="module")
def world():
    """Two jobs, of which one runs; the report is made."""
    made = ReportWorld()
    made.job(ago=3 * HOUR)
    made.job("other", owner="bob@x.org")
    made.end("other", "1")
    made.tick()
    return made


PAGES = (
    "/",
    "/index",
    "/experiments",
    "/jobs/train",
    "/fleet",
    "/fleet?days=30",
    "/trust",
    "/compare?job=train&job=other",
)
FIGURES = ("/index", "/experiments", "/jobs/train", "/fleet", "/trust", "/compare")


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_html_that_loads_nothing_from_elsewhere(world, path):
    """By its policy no script and no style may come from anywhere but here, nor stand in the page."""
    answer = world.get(path)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize("path", FIGURES)
def test_a_view_has_figures_of_its_own(world, path):
    """JSON to be read by tools, CSV to be kept in a file."""
    jobs = "?job=train&job=other" if path == "/compare" else ""
    found = world.get(f"{path}.json{jobs}")
    assert found.headers["Content-Type"] == "application/json"
    assert json.loads(found.get_data())["schema"] == 1
    sheet = world.get(f"{path}.csv{jobs}")
    assert sheet.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert sheet.headers["Content-Disposition"].startswith('attachment; filename="spotwarden-')


def test_figures_are_of_the_rows_that_are_asked_for(world):
    """The same arguments as the page's, on all pages."""
    assert [one["job"] for one in world.json("/index.json?owner=bob@x.org")["jobs"]] == ["other"]
    assert [one["job"] for one in world.json("/index.json?sort=job&order=desc")["jobs"]] == ["train", "other"]


def test_a_page_that_is_the_same_is_not_sent_again(world):
    """The browser asks with what it has."""
    tag = world.get("/index.json").headers["ETag"]
    again = world.get("/index.json", headers={"If-None-Match": tag})
    assert again.status_code == 304
    assert world.get("/index.json", headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/index.json", "/fleet.csv", "/jobs/nobody", "/assets"])
def test_what_is_asked_for_packed_is_the_same_packed(world, path):
    """Page, figures, table or refusal; a cache on the way is told that there are both."""
    plain, packed = (world.get(path, headers=headers) for headers in ({}, {"Accept-Encoding": "br, gzip"}))
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.get_data()) == plain.get_data()
    assert packed.content_length == len(packed.get_data()) < len(plain.get_data())
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
    assert packed.status_code == plain.status_code


@pytest.mark.parametrize("accepted", ["identity", "br", "gzip;q=0", "gzip;q=0, identity"])
def test_who_does_not_take_it_packed_gets_it_as_it_is(world, accepted):
    """Also where gzip is named, to refuse it."""
    answer = world.get("/", headers={"Accept-Encoding": accepted})
    assert "Content-Encoding" not in answer.headers
    assert answer.get_data() == world.get("/").get_data()


def test_a_packed_page_that_is_the_same_is_not_sent_again(world):
    """Its tag is not that of the plain one: neither is taken for the other."""
    takes = {"Accept-Encoding": "gzip"}
    plain, packed = world.get("/").headers["ETag"], world.get("/", headers=takes).headers["ETag"]
    assert plain != packed
    again = world.get("/", headers={**takes, "If-None-Match": packed})
    assert again.status_code == 304
    assert "Content-Encoding" not in again.headers
    assert world.get("/", headers={"If-None-Match": packed}).status_code == 200
    assert world.get("/", headers={**takes, "If-None-Match": plain}).status_code == 200


def test_head_has_no_body(world):
    """And the headers of GET."""
    answer = world.get("/fleet.csv", method="HEAD")
    assert answer.status_code == 200
    assert "Content-Disposition" in answer.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed(world, method):
    """Whatever the method; only Pub/Sub's ticks come by POST."""
    answer = world.get("/", method=method)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/nothing", 404),
        ("/nothing.json", 404),
        ("/index.xml", 404),
        ("/jobs/nobody", 404),
        ("/jobs/Not_A_Job", 404),
        ("/jobs/../index", 404),
        ("/assets/nothing.js", 404),
        ("/assets/../main.py", 404),
        ("/fleet?days=x", 400),
        ("/fleet?days=0", 400),
        ("/fleet?days=401", 400),
        ("/fleet?first=2026-11-19&last=2026-11-18", 400),
        ("/fleet?last=0001-01-01&days=5", 400),
        ("/trust?day=yesterday", 400),
        (f"/?q={'x' * 4_096}", 414),
    ],
)
def test_what_is_not_there_is_said_on_a_page(world, path, code):
    """With the same headers, and kept by nobody."""
    answer = world.get(path)
    assert answer.status_code == code
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Content-Security-Policy" in answer.headers
    assert b"</html>" in answer.get_data()


@pytest.mark.parametrize("days", [1, 400])
def test_the_fleet_of_so_many_days_can_be_asked_for(world, days):
    """From one day on, up to four hundred."""
    assert world.get(f"/fleet?days={days}").status_code == 200


def test_assets_may_be_kept_for_ever(world):
    """Their names change with their content."""
    for one in assets.assets().values():
        answer = world.get(f"/assets/{one.name}")
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.get_data() == one.body


def test_before_the_first_tick_there_is_a_page_all_the_same():
    """It says what to wait for."""
    empty = ReportWorld()
    for path in ("/", "/fleet", "/trust", "/compare", "/index.json", "/fleet.csv"):
        assert empty.get(path).status_code == 200
    assert "within 10 minutes" in empty.get("/").get_data(as_text=True)


def test_five_jobs_are_compared_as_four(world):
    """Each name once; those of which there is none are named."""
    names = "&".join(f"job={job}" for job in ("train", "train", "other", "no-one", "no-two", "no-three"))
    found = world.json(f"/compare.json?{names}")
    assert [one["job"]["job"] for one in found["jobs"]] == ["train", "other"]
    assert found["missing"] == ["no-one", "no-two"]


@pytest.mark.parametrize(
    ("asked", "zone"),
    [
        ("Asia/Tokyo", "Asia/Tokyo"),
        ("", "UTC"),
        ("Mars/Olympus", "UTC"),
        ("../etc/passwd", "UTC"),
        ("a" * 999, "UTC"),
    ],
)
def test_a_time_zone_that_is_none_is_the_policys(asked, zone):
    """Nothing that is asked for leads out of the data base of time zones."""
    assert zone_in(asked, "UTC") == zone


# --- ticks ---


def request(body, method="POST"):
    """A request with this body."""
    return Request(EnvironBuilder("/", method=method, data=body).get_environ())


def test_a_push_of_pubsub_is_a_tick():
    """Its message is what wakes the function."""
    message = {"data": "e30=", "attributes": {"spotwarden-tick": "report_jobs"}}
    assert ticked(request(json.dumps({"message": message, "subscription": "s"}))) == message


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"message": 7}', b"{}", b'{"message": {}, "x": "' + b"x" * LARGEST + b'"}']
)
def test_what_is_no_push_is_no_tick(body):
    """Nor is one that is far too large."""
    assert ticked(request(body)) is None


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[" * 100_000,
        b'{"message": ' + b"[" * 100_000,
        b'{"message": NaN}',
        b'{"message": "\xff"}',
        b"x",
    ],
    ids=["half", "deep", "deep message", "no number", "no UTF-8", "a word"],
)
def test_a_post_that_is_no_json_is_a_bad_request(body):
    """However it is malformed, whoever posts it is told so."""
    with pytest.raises(BadRequest):
        ticked(request(body))


def test_a_get_is_no_tick():
    """Whatever it carries."""
    assert ticked(request(b'{"message": {}}', method="GET")) is None
