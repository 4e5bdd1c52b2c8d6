"""Doors of a local cloud that no browser leads to by itself: what comes in is judged at each of them."""

import smtplib
import socket
from pathlib import Path

import httpx
import pytest

from tests.localcloud.access.conftest import Served

NOT_OURS = "The local cloud answers no web page but its own"
NOT_HERE = "The local cloud is called localhost:"
EVENT = {"message": {"data": "e30=", "messageId": "1"}, "subscription": "s"}


def url_of(served: Served, function: str) -> str:
    """Where a function answers."""
    return next(str(each["url"]) for each in served.functions() if each["name"] == function)


def said(answer: httpx.Response) -> str:
    """The sentence of a refusal."""
    assert answer.status_code == 403, answer.text
    return str(answer.json()["error"]["message"])


@pytest.mark.parametrize("function", ["recover_spot", "answer_notice", "report_jobs"])
def test_a_functions_own_port_has_the_same_rules(served: Served, function: str):
    """Whether events come to it or people; neither is called by another name or from another page."""
    url = url_of(served, function)
    with httpx.Client(trust_env=False) as http:
        assert said(http.post(url, json=EVENT, headers={"host": "evil.example"})).startswith(NOT_HERE)
        assert said(http.post(url, json=EVENT, headers={"origin": served.http})).startswith(NOT_OURS)
        assert said(http.get(url, headers={"sec-fetch-site": "cross-site"})).startswith(NOT_OURS)


def test_an_event_is_sent_as_json(served: Served):
    """A function for people takes forms, such as the one that unsubscribes with one click (RFC 8058)."""
    form = {"content-type": "application/x-www-form-urlencoded"}
    with httpx.Client(trust_env=False, timeout=60) as http:
        event = http.post(url_of(served, "recover_spot"), content=b"{}", headers=form)
        assert said(event).endswith(
            "takes JSON, sent as application/json and not as application/x-www-form-urlencoded."
        )
        answered = http.post(
            url_of(served, "answer_notice"), content=b"List-Unsubscribe=One-Click", headers=form
        )
        assert answered.headers["content-type"].startswith("text/html")


def test_a_link_in_a_mail_leads_to_a_page_of_a_function(served: Served):
    """From the mailbox it is another port, so another origin to the browser; its form is its own."""
    link = {"sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    own = {"sec-fetch-site": "same-origin", "origin": "null"}
    with httpx.Client(trust_env=False, timeout=60) as http:
        page = url_of(served, "answer_notice")
        assert http.get(page, headers=link).headers["content-type"].startswith("text/html")
        assert http.post(page, headers=own).headers["content-type"].startswith("text/html")
        assert said(http.get(url_of(served, "recover_spot"), headers=link)).startswith(NOT_OURS)


def test_the_doors_of_functions_to_the_services_have_the_same_rules(served: Served):
    """They are ports of their own, in front of the same services."""
    (row,) = [each for each in served.functions() if each["name"] == "recover_spot"]
    environ = Path(f"/proc/{row['pid']}/environ").read_text(encoding="utf-8")
    told = dict(line.split("=", 1) for line in environ.split("\0") if "=" in line)
    door = told["SPOTWARDEN_COMPUTE_ENDPOINT"]
    assert door != served.http
    topics = f"{door}/v1/projects/demo/topics"
    with httpx.Client(trust_env=False) as http:
        assert said(http.get(topics, headers={"host": "evil.example"})).startswith(NOT_HERE)
        assert said(http.put(f"{topics}/x", content=b"{}")).startswith(
            "PUT /v1/projects/demo/topics/x takes JSON"
        )


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "OPTIONS"])
def test_the_mail_server_hangs_up_on_http(served: Served, method: str):
    """Before anything of a form's body could be taken for a command."""
    with socket.create_connection(("127.0.0.1", served.smtp), timeout=60) as browser:
        browser.sendall(f"{method} / HTTP/1.1\r\nHELO a\r\nMAIL FROM:<e@example.com>\r\n".encode())
        lines = browser.makefile("rb").read().splitlines()
    assert [line[:3] for line in lines] == [b"220", b"421"]


def test_the_mail_server_answers_the_owner(served: Served):
    """One fact apart."""
    with smtplib.SMTP("127.0.0.1", served.smtp) as smtp:
        assert smtp.noop()[0] == 250
