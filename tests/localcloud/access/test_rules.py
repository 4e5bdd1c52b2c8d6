"""What no web page may have made: the rules of a door, one fact apart each."""

import pytest

from localcloud.access import Asked, Rules
from localcloud.access.services import SERVICES
from localcloud.machines.metadata import RULES

PORT = 8085
OWN = "http://127.0.0.1:8085"
INSERT = "/compute/v1/projects/p/zones/z/instances"
PAGE = "/local/mailbox/mails/1"


def why(
    rules: Rules = SERVICES,
    method: str = "GET",
    path: str = INSERT,
    *,
    absolute: bool = False,
    **headers: str,
) -> str:
    """Why a request is refused; `_` in the name of a header stands for a dash."""
    told = {"host": "127.0.0.1:8085"} | {name.replace("_", "-"): value for name, value in headers.items()}
    lists = {name: [value] for name, value in told.items() if value}
    return rules.refusal(Asked(method=method, path=path, headers=lists, port=PORT, absolute=absolute))


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8085", "localhost:8085", "LOCALHOST:8085", "localhost.:8085", "[::1]:8085", "127.0.0.2:8085"],
)
def test_the_names_and_numbers_of_loopback_are_answered(host: str):
    """With the port that the request came to."""
    assert why(host=host) == ""


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8085",
        "127.0.0.1.evil.example:8085",
        "localhost.evil.example:8085",
        "127.0.0.1:8086",
        "127.0.0.1",
        "localhost",
        "192.168.0.1:8085",
        "0.0.0.0:8085",
        "user@127.0.0.1:8085",
        "127.0.0.1:8085:8085",
        "metadata.google.internal",
        "",
    ],
)
def test_any_other_host_is_refused(host: str):
    """A name that was made to lead here (DNS rebinding), another port, or none at all."""
    assert why(host=host).startswith("The local cloud is called localhost:8085 or 127.0.0.1:8085, not ")


def test_two_hosts_are_refused():
    """Nobody could tell which of them counts."""
    asked = Asked(method="GET", path="/", headers={"host": ["127.0.0.1:8085", "evil.example"]}, port=PORT)
    assert SERVICES.refusal(asked)


@pytest.mark.parametrize("origin", [OWN, OWN.upper().replace("HTTP", "http")])
def test_our_own_page_is_answered(origin: str):
    """Its origin is the very address that it calls."""
    assert why(method="POST", origin=origin, content_type="application/json") == ""


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://127.0.0.1:9999",
        "http://localhost:8085",
        "https://127.0.0.1:8085",
        "null",
    ],
)
def test_any_other_page_is_refused(origin: str):
    """One from elsewhere, one of another port of loopback, one that hides where it is from."""
    said = why(method="POST", origin=origin, content_type="application/json")
    assert said == f"The local cloud answers no web page but its own; this request comes from {origin!r}."


def test_a_form_of_a_page_without_referrer_is_our_own_where_the_browser_says_so():
    """Its origin is "null" then, on purpose."""
    rules = Rules()
    assert why(rules, "POST", "/", origin="null", sec_fetch_site="same-origin") == ""
    assert why(rules, "POST", "/", origin="null", sec_fetch_site="cross-site")
    assert why(rules, "POST", "/", origin="https://evil.example", sec_fetch_site="same-origin")


@pytest.mark.parametrize(
    ("site", "answered"),
    [("same-origin", True), ("none", True), ("same-site", False), ("cross-site", False), ("new-word", False)],
)
def test_what_the_browser_says_of_the_page_counts(site: str, *, answered: bool):
    """Also where no origin is sent, as with an image or a script."""
    assert (why(sec_fetch_site=site) == "") == answered


LINK = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}


def test_a_person_may_follow_a_link_to_a_page():
    """From a mail, say; in a tab, to a page, and to look only."""
    assert why(path=PAGE, **LINK) == ""
    assert why(path="/local/mailbox", **LINK) == ""
    assert why(path="/local/mailbox.json", **LINK)
    assert why(path=INSERT, **LINK)
    assert why(method="POST", path=PAGE, **LINK, content_type="application/json")
    assert why(path=PAGE, **{**LINK, "sec_fetch_dest": "iframe"})
    assert why(path=PAGE, **{**LINK, "sec_fetch_mode": "no-cors"})


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    ("kind", "length", "answered"),
    [
        ("application/json", "2", True),
        ("application/json; charset=UTF-8", "2", True),
        ("APPLICATION/JSON", "2", True),
        ("application/cloudevents+json", "2", True),
        ("", "", True),
        ("", "0", True),
        ("", "2", False),
        ("text/plain", "2", False),
        ("text/plain", "", False),
        ("application/x-www-form-urlencoded", "2", False),
        ("multipart/form-data; boundary=x", "2", False),
        ("text/plain; application/json", "2", False),
        ("application/jsonp", "2", False),
    ],
)
def test_a_json_method_takes_json(method: str, kind: str, length: str, *, answered: bool):
    """Said to be JSON: a form can send anything, but cannot say that."""
    assert (why(method=method, content_type=kind, content_length=length) == "") == answered


def test_a_body_of_unknown_length_is_a_body():
    """Sent in chunks."""
    assert why(method="POST", transfer_encoding="chunked")


@pytest.mark.parametrize(
    "path",
    [
        "/upload/storage/v1/b/x/o",
        "/batch/storage/v1",
        "/batch",
        "/token",
        "/resumable/upload/storage/v1/b/x/o",
        "/bucket/object",
        "/my.bucket-1/a/b",
    ],
)
def test_media_batches_and_token_requests_are_no_json(path: str):
    """Google's clients send them as what they are."""
    assert (
        why(method="POST", path=path, content_type="multipart/related; boundary=x", content_length="9") == ""
    )


@pytest.mark.parametrize(
    "path", ["/bucket", "/local/objects", "/storage/v1/b", "/v1/projects", "/oauth2/x", "/b/x"]
)
def test_what_is_no_object_of_the_xml_api_takes_json(path: str):
    """Our own paths among it; and to an object, too, no page may send anything."""
    form = {"method": "POST", "content_type": "text/plain", "content_length": "9"}
    assert why(path=path, **form)
    assert why(path="/bucket/object", origin="http://evil.example", **form)
    assert why(path="/bucket/object", sec_fetch_site="cross-site", **form)


def test_a_long_question_may_come_as_a_form():
    """google-api-python-client asks so; the header is one that no page can send without being asked first."""
    form = {"content_type": "application/x-www-form-urlencoded", "content_length": "9000"}
    assert why(method="POST", **form)
    assert why(method="POST", **form, x_http_method_override="GET") == ""
    assert why(method="POST", **form, x_http_method_override="PUT")


def test_an_upload_begins_with_the_type_of_what_will_follow():
    """As the XML API has it; that header, too, is one that no page can send without being asked first."""
    kind = {"content_type": "text/plain", "content_length": "0"}
    assert why(method="POST", **kind)
    assert why(method="POST", **kind, x_goog_resumable="start") == ""
    assert why(method="POST", **kind, x_goog_resumable="end")
    assert why(method="POST", **kind, x_goog_resumable="start", origin="http://evil.example")


@pytest.mark.parametrize("host", ["metadata.google.internal", "metadata", "169.254.169.254:80"])
def test_the_metadata_server_has_its_names(host: str):
    """At the port for http, and as itself; a page at such a name and our port is one that was led here."""
    assert why(RULES, host=host) == ""
    assert why(RULES, host=f"{host.removesuffix(':80')}:8085")


def test_a_proxy_takes_what_is_for_others_and_a_page_cannot_ask_it():
    """Only the client of a proxy sends a whole URL, or CONNECT."""
    assert why(RULES, host="evil.example", absolute=True, origin="https://evil.example") == ""
    assert why(RULES, "CONNECT", host="evil.example:443") == ""
    assert why(RULES, host="evil.example")
    assert why(host="evil.example", absolute=True)
    assert why(method="CONNECT", host="evil.example:443")
