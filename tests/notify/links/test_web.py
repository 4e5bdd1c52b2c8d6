"""`answer_notice` as a web server: methods, sizes, headers, tokens that are no good, preferences."""

from datetime import timedelta
from io import BytesIO

import msgspec
import pytest
from functions_framework import create_app

from spotwarden import clock
from spotwarden.gcp import rest_only
from spotwarden.layout import PreferenceRecord, person_key
from spotwarden.model.delivery import Pace, Preference
from spotwarden.model.governance import Limits, Mode, Remedy
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.notice import Way
from spotwarden.model.offer import PreferenceOffer
from spotwarden.model.threads import Threads
from spotwarden.notify.links.pages.rendering import style
from spotwarden.notify.links.tokens import Keys, sign
from spotwarden.notify.links.web import MOST_BYTES
from tests.fakes.trouble import unanswered
from tests.fakes.world import ROOT
from tests.governance.made_up import RULE, MadeUp
from tests.notify.links.answer_web import ADA, SECRET, Web

GRACE = timedelta(minutes=30)
ONE_CLICK = "List-Unsubscribe=One-Click"


@pytest.fixture
def web():
    """Ada, with a message about her VM before her."""
    world = MadeUp(Limits(remedy=Remedy.STOP, grace=GRACE))
    world.id = world.vm("vm")
    world.sweep()
    return Web(world)


def objects(web):
    """Everything that stands in the bucket."""
    return [(one.name, one.generation) for one in web.world.cloud.store.entries("")]


def preference_offer(web, to=ADA, lasts=timedelta(days=30)):
    """The token of a link to somebody's preferences."""
    return web.token(PreferenceOffer(to=to, expires=web.now + lasts))


def asked(web, to=ADA):
    """What somebody has asked for."""
    stored = web.world.cloud.store.read(web.world.layout.build(PreferenceRecord(person=person_key(to))))
    return msgspec.json.decode(stored.data, type=Preference) if stored else None


def preference(web, to=ADA):
    """How often somebody wants to hear of news."""
    said = asked(web, to)
    return said.pace if said else None


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", "text/plain"])
@pytest.mark.parametrize(
    "body",
    [b"[" * 4_000, b'{"t": ' * 1_000, b'{"t": NaN}', b'{"t": "a", "t": "b"}', b"t=\xff", b"t[" * 2_000],
    ids=["deep", "deep objects", "no number", "twice", "no UTF-8", "deep names"],
)
def test_a_malformed_post_is_a_bad_request(web, body, kind):
    """It is answered by a page, and nothing is done."""
    before = objects(web)
    page = web.send(method="POST", data=body, content_type=kind)
    assert (page.status_code, "</html>" in page.text) == (400, True)
    assert objects(web) == before


# --- tokens that are no good ---


def test_a_tampered_link_is_refused(web):
    """By look and by click: the page says what may have happened, and nothing was changed."""
    token, before = web.token(Way.STOP), objects(web)
    broken = token[:-1] + ("A" if token[-1] != "A" else "B")
    for page in (web.open(broken), web.click(broken)):
        assert page.status_code == 400
        assert "This link is incomplete" in page.text
        assert "spotwarden cases list" in page.text
    assert objects(web) == before


def test_a_foreign_link_is_refused(web):
    """One that another deployment with the same secret has signed."""
    before = objects(web)
    foreign = sign(web.offer(Way.STOP), Keys.read(SECRET, "another"))
    for page in (web.open(foreign), web.click(foreign)):
        assert (page.status_code, "This link is from another deployment" in page.text) == (403, True)
    assert objects(web) == before


def test_an_expired_link_is_refused(web):
    """A week later; a second before that it is good."""
    token, before = web.token(Way.KEEP), objects(web)
    web.world.wait(days=7, seconds=-1)
    assert web.open(token).status_code == 200
    web.world.wait(seconds=1)
    for page in (web.open(token), web.click(token)):
        assert (page.status_code, "This link has expired" in page.text) == (410, True)
    assert objects(web) == before


def test_an_expired_link_that_was_used_does_nothing_again(web):
    """It is over like any other."""
    token = web.token(Way.STOP)
    web.click(token)
    web.world.wait(days=8)
    assert web.click(token).status_code == 410
    assert len(web.world.asked()) == 1


@pytest.mark.parametrize("query", ["", "?t=", "?x=1", "?t=a&t=b"])
def test_an_address_without_one_token_is_no_link(web, query):
    """The page says how it is meant to be opened."""
    page = web.send(f"/{query}")
    assert (page.status_code, "The link is missing" in page.text) == (400, True)


def test_a_click_needs_the_token_in_its_form(web):
    """One in the address alone is what a link checker that posts would send."""
    assert web.send(f"/?t={web.token(Way.STOP)}", method="POST").status_code == 400
    assert web.world.asked() == []


# --- the web ---


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_other_methods_do_nothing(web, method):
    """They are told which there are."""
    before = objects(web)
    page = web.send(f"/?t={web.token(Way.STOP)}", method=method)
    assert (page.status_code, page.headers["Allow"]) == (405, "GET, HEAD, POST")
    assert objects(web) == before


def test_a_click_fits_into_eight_kilobytes(web):
    """The byte beyond is too much, and nothing of it is looked at."""
    body = f"t={web.token(Way.KEEP)}&x=".encode()
    form = {"method": "POST", "content_type": "application/x-www-form-urlencoded"}
    assert web.send(data=body.ljust(MOST_BYTES + 1, b"x"), **form).status_code == 413
    assert web.world.case(RULE, web.world.id).keep_until is None
    assert web.send(data=body.ljust(MOST_BYTES, b"x"), **form).status_code == 200
    assert web.world.case(RULE, web.world.id).kept_by == ADA


def test_a_body_that_does_not_say_how_long_it_is_is_bounded_too(web):
    """A stream of a megabyte is cut off."""
    page = web.send(
        method="POST",
        input_stream=BytesIO(b"t=" + b"x" * 1_000_000),
        content_type="application/x-www-form-urlencoded",
        environ_overrides={"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
    )
    assert page.status_code == 413


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=b", "application/json", "text/plain", ""])
def test_a_body_of_another_kind_is_no_click(web, kind):
    """It holds no form, or none that is ours."""
    body = f"t={web.token(Way.STOP)}".encode()
    assert web.send(method="POST", data=body, content_type=kind).status_code == 400
    assert web.world.asked() == []


@pytest.mark.parametrize("what", ["look", "click", "broken", "nothing"])
def test_every_page_is_shut_tight(web, what):
    """No script, no other site, no frame, no cache, no index; and no other site hears of the address."""
    pages = {
        "look": lambda: web.open(web.token(Way.KEEP)),
        "click": lambda: web.click(web.token(Way.KEEP)),
        "broken": lambda: web.open("x"),
        "nothing": lambda: web.send("/", method="PUT"),
    }
    page = pages[what]()
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in policy
    assert "form-action 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert page.headers["Strict-Transport-Security"].startswith("max-age=")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "Set-Cookie" not in page.headers
    assert "<script" not in page.text
    assert f"<style>{style()}</style>" in page.text


def test_a_head_has_no_body(web):
    """And the headers of a look."""
    page = web.open(web.token(Way.KEEP), "HEAD")
    assert (page.status_code, page.data) == (200, b"")


def test_what_people_write_is_text_on_a_page(web):
    """A job, an owner or a reason may hold HTML: it is shown, and never is markup."""
    hostile = "<img src=x onerror=alert(1)>\"'&{{7*7}}"
    subject = msgspec.structs.replace(web.world.case(RULE, web.world.id).subject, owner=hostile)
    web.world.change_case(RULE, web.world.id, subject=subject, reason=hostile)
    page = web.open(web.token(Way.KEEP))
    assert "<img" not in page.text
    assert "{{7*7}}" in page.text
    assert page.text.count("&lt;img src=x onerror=alert(1)&gt;&#34;&#39;&amp;") == 2


def test_no_token_is_ever_logged(web, capsys):
    """Not by a look, a click, a refusal or a failure; nor does it stand in the bucket."""
    token = web.token(Way.STOP)
    web.open(token)
    web.world.cloud.compute.trouble.order("stop", unanswered(after_work=False))
    web.click(token)
    web.click(token)
    said = capsys.readouterr()
    signature = token.rpartition(".")[2]
    stored = [web.world.cloud.store.read(name).data.decode(errors="replace") for name, _ in objects(web)]
    assert not any(signature in text for text in (said.out, said.err, *stored))


# --- preferences ---


def test_a_look_at_preferences_offers_three_paces(web):
    """What always comes at once is said, and what happens to who has not chosen: the report comes."""
    page = web.open(preference_offer(web))
    assert page.status_code == 200
    for said in (
        "As it happens",
        "Once an hour",
        "Once a day",
        "You always get warnings",
        "collected for 1 h",
        ADA,
    ):
        assert said in page.text
    assert page.text.count(" checked") == 2
    assert 'value="yes" checked' in page.text
    assert 'value="news" checked' in page.text
    assert preference(web) is None


@pytest.mark.parametrize("pace", list(Pace))
def test_a_click_saves_a_preference(web, pace):
    """It is the person's alone, can be changed as often as he likes, and is marked from then on."""
    token = preference_offer(web)
    page = web.click(token, pace=pace.value)
    assert (page.status_code, "Saved" in page.text) == (200, True)
    assert preference(web) is pace
    assert preference(web, "bob@x.org") is None
    assert f'value="{pace.value}" checked' in web.open(token).text
    web.click(token, pace="now")
    assert preference(web) is Pace.NOW
    assert any(ADA in one["why"] for one in web.audit())


@pytest.mark.parametrize("pace", ["", "never", "NOW"])
def test_no_other_pace_can_be_chosen(web, pace):
    """The page is shown again."""
    page = web.click(preference_offer(web), pace=pace)
    assert (page.status_code, "How often do you want messages?" in page.text) == (200, True)
    assert preference(web) is None


@pytest.mark.parametrize(("said", "weekly"), [("yes", True), ("no", False), ("perhaps", True)])
def test_a_click_declines_the_report_of_the_week(web, said, weekly):
    """Only a plain no does; the page marks what holds, and it can be had again."""
    token = preference_offer(web)
    assert "Saved" in web.click(token, pace="daily", weekly=said).text
    assert asked(web).weekly is weekly
    assert f'value="{"yes" if weekly else "no"}" checked' in web.open(token).text
    web.click(token, pace="daily", weekly="yes")
    assert asked(web).weekly


def test_a_click_saves_a_time_zone(web):
    """It stands on the page from then on, and an empty one takes it back."""
    token = preference_offer(web)
    assert "Times are in Asia/Tokyo." in web.click(token, pace="daily", timezone=" Asia/Tokyo ").text
    assert asked(web).timezone == "Asia/Tokyo"
    assert 'name="timezone" value="Asia/Tokyo"' in web.open(token).text
    web.click(token, pace="daily", timezone="")
    assert asked(web).timezone == ""


def test_a_click_saves_what_subjects_say(web):
    """It stands on the page from then on; what the policy has for its reader anyway is no choice."""
    token = preference_offer(web)
    assert "Saved" in web.click(token, pace="daily", threads="job").text
    assert asked(web).threads is Threads.JOB
    assert 'value="job" checked' in web.open(token).text
    web.click(token, pace="daily", threads="news")
    assert asked(web).threads is None
    web.world.set_policy(notify=NotifyLimits(threads=Threads.JOB))
    assert 'value="job" checked' in web.open(token).text
    web.click(token, pace="daily", threads="news")
    assert asked(web).threads is Threads.NEWS


@pytest.mark.parametrize("said", ["", "owner", "JOB"])
def test_subjects_are_as_the_policy_has_them_where_no_choice_was_sent(web, said):
    """An old page that has no such question changes nothing."""
    web.click(preference_offer(web), pace="daily", threads=said)
    assert asked(web).threads is None


@pytest.mark.parametrize("zone", ["Tokyo", "CEST", "../../etc/passwd", "/etc/localtime", "<b>", "x" * 200])
def test_an_unknown_time_zone_saves_nothing(web, zone):
    """The page says so, and how one is written."""
    page = web.click(preference_offer(web), pace="daily", timezone=zone)
    assert page.status_code == 400
    assert "Unknown time zone" in page.text
    assert "<b>" not in page.text
    assert preference(web) is None


@pytest.mark.parametrize(
    ("own", "due", "answered"),
    [
        ("Asia/Tokyo", "18:30 JST on Mon, Jan 5", "18:00 JST on Mon, Jan 5"),
        ("", "10:30 CET on Mon, Jan 5", "10:00 CET on Mon, Jan 5"),
        ("Mars/Olympus", "10:30 CET on Mon, Jan 5", "10:00 CET on Mon, Jan 5"),
    ],
)
def test_pages_tell_times_on_their_reader_s_clock(web, own, due, answered):
    """As in mails: what the reader chose counts first, then the policy's zone for them."""
    web.world.set_policy(notify=NotifyLimits(timezone="America/New_York", timezones={ADA: "Europe/Berlin"}))
    wish = Preference(pace=Pace.DAILY, at=web.now, timezone=own)
    name = web.world.layout.build(PreferenceRecord(person=person_key(ADA)))
    web.world.cloud.store.write(name, msgspec.json.encode(wish), generation=0)
    token = web.token(Way.KEEP)
    assert f"at {due} or later" in web.open(token).text
    web.click(token)
    again = web.open(token).text
    assert f"{ADA} answered this at {answered}." in again
    assert " UTC" not in again


def test_a_page_does_not_wait_to_know_its_reader_s_clock(web):
    """Where the choice can't be read now, times are in the policy's zone."""
    web.click(preference_offer(web), pace="daily", timezone="Asia/Tokyo")
    web.world.cloud.store.trouble.order("read", unanswered(after_work=False), about="preferences/", times=9)
    page = web.open(web.token(Way.KEEP))
    assert page.status_code == 200
    assert "at 09:30 UTC on Mon, Jan 5 or later" in page.text


def test_a_mail_programs_own_button_keeps_the_time_zone(web):
    """It takes messages back, not their clock, nor what their subjects say."""
    token = preference_offer(web)
    web.click(token, pace="now", timezone="Asia/Tokyo", threads="job")
    form = {"method": "POST", "data": ONE_CLICK, "content_type": "application/x-www-form-urlencoded"}
    web.send(f"/?t={token}", **form)
    assert (preference(web), asked(web).timezone) == (Pace.DAILY, "Asia/Tokyo")
    assert asked(web).threads is Threads.JOB


def test_a_mail_programs_own_button_means_once_a_day_and_no_report(web):
    """RFC 8058: a POST to the address in the header, with just these words."""
    form = {"method": "POST", "data": ONE_CLICK, "content_type": "application/x-www-form-urlencoded"}
    assert web.send(f"/?t={preference_offer(web)}", **form).status_code == 200
    assert preference(web) is Pace.DAILY
    assert not asked(web).weekly


def test_a_mail_programs_button_as_a_multipart_form_means_the_same(web):
    """RFC 8058 allows either kind."""
    form = {"List-Unsubscribe": "One-Click"}
    assert (
        web.send(
            f"/?t={preference_offer(web)}", method="POST", data=form, content_type="multipart/form-data"
        ).status_code
        == 200
    )
    assert preference(web) is Pace.DAILY


def test_a_mail_programs_button_answers_no_notice(web):
    """With the token of an offer it does nothing."""
    form = {"method": "POST", "data": ONE_CLICK, "content_type": "application/x-www-form-urlencoded"}
    assert web.send(f"/?t={web.token(Way.STOP)}", **form).status_code == 400
    assert web.world.asked() == []


def test_a_preference_may_be_saved_where_the_deployment_only_observes(web):
    """Messages go out all the same."""
    web.world.set_policy(mode=Mode.OBSERVE)
    web.click(preference_offer(web), pace="daily")
    assert preference(web) is Pace.DAILY


def test_a_preference_that_may_not_have_arrived_says_so(web):
    """Pressing the button once more writes the same."""
    web.world.cloud.store.trouble.order("write", unanswered(after_work=False), about="preferences/")
    assert web.click(preference_offer(web), pace="daily").status_code == 503
    assert web.click(preference_offer(web), pace="daily").status_code == 200
    assert preference(web) is Pace.DAILY


def test_an_expired_link_saves_no_preference(web):
    """Like any other link."""
    token = preference_offer(web, lasts=timedelta(seconds=1))
    web.world.wait(seconds=1)
    assert web.click(token, pace="daily").status_code == 410
    assert preference(web) is None


# --- as it is deployed ---


@pytest.fixture
def deployed(web, monkeypatch, tmp_path):
    """The function as functions-framework serves it, with the cloud and the clock of the world."""
    policy = tmp_path / "policy.toml"
    policy.write_text((ROOT / "infra/policy.toml").read_text())
    said = {
        "SPOTWARDEN_PROJECT": "p",
        "SPOTWARDEN_BUCKET": "b",
        "SPOTWARDEN_NOTICES": "n",
        "SPOTWARDEN_POLICY": str(policy),
        "SPOTWARDEN_SIGNING_KEYS": SECRET,
    }
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(rest_only, "connect", lambda **_: web.world.cloud.ports())
    monkeypatch.setattr(clock, "now", lambda: web.now)
    app = create_app("answer_notice", str(ROOT / "functions/answer_notice/main.py"), "http")
    return app.test_client()


def test_the_deployed_function_shows_and_does(web, deployed):
    """From the environment and the policy file to the case."""
    token = web.token(Way.KEEP)
    assert "Keep for 8 h" in deployed.get("/", query_string={"t": token}).text
    assert deployed.post("/", data={"t": token}).status_code == 200
    assert web.world.case(RULE, web.world.id).kept_by == ADA


def test_the_deployed_function_bounds_a_body(web, deployed):
    """By our limit, not by the framework's."""
    assert deployed.post("/", data={"t": web.token(Way.KEEP), "x": "x" * MOST_BYTES}).status_code == 413


def test_the_deployed_function_knows_other_methods(deployed):
    """The framework routes them all to it."""
    for method in ("PUT", "DELETE", "OPTIONS"):
        assert deployed.open("/", method=method).status_code == 405


@pytest.fixture
def broken(deployed, monkeypatch, tmp_path):
    """The same after somebody has deployed a policy that says a limit twice over."""
    file = tmp_path / "broken.toml"
    file.write_text('version = "1"\n[idle]\nact = "soon"\n')
    monkeypatch.setenv("SPOTWARDEN_POLICY", str(file))
    return deployed


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_with_a_broken_policy_a_page_says_what_is_wrong_and_what_to_do(web, broken, method, capsys):
    """Nothing is answered by half of one; the log has it, too."""
    before, token = objects(web), web.token(Way.KEEP)
    page = (
        broken.get("/", query_string={"t": token}) if method == "GET" else broken.post("/", data={"t": token})
    )
    assert page.status_code == 500
    assert page.headers["Content-Security-Policy"]
    for said in (
        "The policy file has an error",
        "Nothing was changed",
        "idle.act",
        "Send this",
    ):
        assert said in page.text
    assert objects(web) == before
    logged = capsys.readouterr().out
    assert "idle.act" in logged
    assert "ERROR" in logged


@pytest.mark.parametrize("query", [{}, {"t": "made-up"}], ids=["no link", "a link of nobody's"])
def test_a_stranger_does_not_read_the_policy_by_what_is_wrong_in_it(broken, query):
    """That it is broken is all: a fault names values and people."""
    page = broken.get("/", query_string=query)
    assert (page.status_code, "has an error" in page.text, "idle.act" in page.text) == (500, True, False)
