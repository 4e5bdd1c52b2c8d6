"""Posts to web hooks: what arrives, and what is known when it does not."""

import hashlib
import hmac
import json
import re
import runpy
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from spotwarden.notify.channels import ChannelSettings, open_mailer
from spotwarden.notify.channels.timeouts import ChannelTimeouts
from spotwarden.ports import Mailer, RejectedError, UnansweredError
from tests.notify.channels.conftest import CURIOUS, SHORT
from tests.notify.channels.mail_server import certificate
from tests.notify.channels.messages import AT, post
from tests.notify.channels.rude import Act, Answer, Rude, Talk, http

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
PATH = "/services/T00000000/B00000000/xyzzyxyzzy?token=plughplugh"
TIMEOUT = ChannelTimeouts()
SECRET = "0123456789abcdef"
README = Path(__file__).resolve().parents[3] / "shared/spotwarden/notify/channels/README.md"


def hook(
    server: Rude,
    *,
    shape: str = "slack",
    timeouts: ChannelTimeouts = TIMEOUT,
    scheme: str = "http",
) -> Mailer:
    """The channel to one hook at the server."""
    host = "127.0.0.1" if scheme == "http" else "localhost"
    row = {"shape": shape, "url": f"{scheme}://{host}:{server.port}{PATH}"}
    if shape == "json":
        row["secret"] = SECRET
    return open_mailer(ChannelSettings.read({"SPOTWARDEN_HOOKS": json.dumps({"ml-chat": row})}), timeouts)


def status(line: str, body: bytes = b"", **headers: str) -> bytes:
    """An answer."""
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {line}\r\nContent-Length: {len(body)}\r\n{head}\r\n".encode() + body


def headers(server: Rude) -> dict[str, str]:
    """The headers that a server was sent, by their names in small letters."""
    lines = [line.decode().rstrip() for line in server.heard if b": " in line and not line.startswith(b"{")]
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}


def test_a_post_arrives_as_it_was_written():
    """At the whole URL, as JSON, with its id and no signature that nobody checks."""
    with Rude(http(OK)) as server:
        assert hook(server).send(post(id="notice-1")) == "200 ok"
    assert server.heard[0] == f"POST {PATH} HTTP/1.1\r\n".encode()
    assert server.heard[-1] == b'{"text": "nap"}'
    sent = headers(server)
    assert sent["content-type"] == "application/json; charset=utf-8"
    assert sent["x-spotwarden-id"] == "notice-1"
    assert "x-spotwarden-signature" not in sent


def test_plain_json_is_signed():
    """Over the moment and the body, so that neither can be another's."""
    with Rude(http(OK)) as server:
        hook(server, shape="json").send(post(body=b'{"a": "\xc3\xbc"}'))
    moment = int(AT.timestamp())
    digest = hmac.new(SECRET.encode(), b'%d.{"a": "\xc3\xbc"}' % moment, hashlib.sha256).hexdigest()
    assert headers(server)["x-spotwarden-signature"] == f"t={moment},v1={digest}"


@pytest.fixture
def is_ours(tmp_path: Path) -> Callable[..., bool]:
    """The very function that the README gives to receivers."""
    [snippet] = re.findall(r"```python\n(import hashlib.*?)```", README.read_text(), re.DOTALL)
    file = tmp_path / "snippet.py"
    file.write_text(snippet)
    function: Callable[..., bool] = runpy.run_path(str(file))["is_ours"]
    return function


def test_a_receiver_can_tell_that_it_was_us(is_ours: Callable[..., bool]):
    """By the README's own words: this body, this secret, not long ago, and nothing else."""
    with Rude(http(OK)) as server:
        hook(server, shape="json").send(post())
    signature, body, now = headers(server)["x-spotwarden-signature"], server.heard[-1], AT.timestamp()
    assert is_ours(signature, body, SECRET, now)
    assert is_ours(signature, body, SECRET, now + 300)
    assert not is_ours(signature, body, SECRET, now + 301)
    assert not is_ours(signature, body, SECRET, now - 301)
    assert not is_ours(signature, body + b" ", SECRET, now)
    assert not is_ours(signature, body, SECRET[::-1], now)
    assert not is_ours(signature.replace("t=1", "t=2"), body, SECRET, now)


@pytest.mark.parametrize("signature", ["", "v1=abc", "t=1", "t=x,v1=abc", "nonsense", "t=1,v1=\xfc"])
def test_a_signature_that_is_none_is_nobodys(is_ours: Callable[..., bool], signature: str):
    """It is refused, and nothing breaks."""
    assert not is_ours(signature, b"{}", SECRET, 1.0)


@pytest.mark.parametrize(
    "line", ["400 Bad Request", "403 Forbidden", "404 Not Found", "410 Gone", "413 Large"]
)
def test_a_hook_that_is_gone_or_refuses_is_refused(line: str):
    """The next try would hear the same."""
    says = f"refused: ml-chat said {line[:3]} no_service"
    with Rude(http(status(line, b"no_service"))) as server, pytest.raises(RejectedError, match=says):
        hook(server).send(post())


@pytest.mark.parametrize("line", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_no_redirect_is_followed(line: str):
    """What was meant for one receiver goes to no other."""
    with Rude(http(OK)) as other:
        elsewhere = status(line, Location=f"http://127.0.0.1:{other.port}/")
        with Rude(http(elsewhere)) as server, pytest.raises(RejectedError, match="refused: ml-chat said 30"):
            hook(server).send(post())
        assert other.heard == []


@pytest.mark.parametrize(
    "line", ["408 Timeout", "425 Early", "429 Slow", "500 Oops", "502 Gateway", "503 Busy"]
)
def test_a_hook_in_trouble_is_tried_again(line: str):
    """It did not take it, and may next time."""
    with Rude(http(status(line))) as server, pytest.raises(RejectedError, match=f"unsent: .* {line[:3]}"):
        hook(server).send(post())


def test_how_long_a_hook_wants_to_be_left_alone_is_said():
    """Slack and Google Chat say it in a header."""
    busy = status("429 Slow", Retry_After="30")
    with Rude(http(busy)) as server, pytest.raises(RejectedError, match=r"unsent: .* 429, to wait 30$"):
        hook(server).send(post())


def test_a_gateway_that_gave_up_waiting_leaves_it_open():
    """What stands behind it may have heard us."""
    with Rude(http(status("504 Timeout"))) as server, pytest.raises(UnansweredError, match="504"):
        hook(server).send(post())


@pytest.mark.parametrize("what", [Act.DROP, Act.HANG, b"gibberish\r\n\r\n", b"HTTP/1.1 2"])
def test_a_hook_that_fails_after_the_post_may_have_taken_it(what: Answer):
    """Nobody knows, and that is what is said."""
    with Rude(http(what)) as server:
        with pytest.raises(UnansweredError, match="ml-chat received the message"):
            hook(server, timeouts=CURIOUS).send(post())
        assert server.heard[-1] == post().body


def test_a_hook_that_drips_its_answer_is_late():
    """Each byte comes soon enough, the answer as a whole does not."""
    slow = status("200 OK", X_Long="." * 400)
    with Rude(http(lambda talk: talk.drip(slow))) as server, pytest.raises(UnansweredError):
        hook(server, timeouts=CURIOUS).send(post())


def test_a_hook_that_never_stops_talking_is_cut_off():
    """Its yes was heard; what comes after it is not waited for."""
    endless = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 3_000_000
    with Rude(http(endless)) as server:
        assert len(hook(server).send(post())) < 300


def test_an_answer_whose_words_do_not_come_is_still_an_answer():
    """The status is what counts."""

    def half(talk: Talk) -> None:
        talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        talk.hang()

    with Rude(http(half)) as server:
        assert hook(server, timeouts=CURIOUS).send(post()) == "200"


def test_a_hook_that_takes_only_half_has_not_got_it():
    """Nobody acts on half a request: it can be tried again."""
    large = post(body=b"x" * 16_000_000)
    with (
        Rude(lambda talk: talk.hang(), window=4096) as server,
        pytest.raises(RejectedError, match="unsent: ml-chat: cut off"),
    ):
        hook(server, timeouts=SHORT).send(large)


def test_nobody_at_home_is_tried_again():
    """A port where nothing listens."""
    with Rude(http(OK)) as server:
        pass
    with pytest.raises(RejectedError, match="unsent: ml-chat: no connection"):
        hook(server).send(post())


def over_tls(name: str) -> Callable[[Talk], None]:
    """A web server with our authority's certificate for this name."""
    context = certificate(name)

    def script(talk: Talk) -> None:
        with suppress(ssl.SSLError), context.wrap_socket(talk.connection, server_side=True) as secure:
            heard = b""
            # Head and body may come apart; who closes while the other still talks is not heard out.
            while not heard.endswith(b"}") and (more := secure.recv(65536)):
                heard += more
            talk.server.keep(heard)
            secure.sendall(OK)

    return script


def test_a_hook_is_called_over_tls(authority: str, monkeypatch: pytest.MonkeyPatch):
    """With a certificate that the system trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", authority)
    with Rude(over_tls("localhost")) as server:
        assert hook(server, scheme="https").send(post()) == "200 ok"


@pytest.mark.parametrize(("name", "trusted"), [("other.example.com", True), ("localhost", False)])
def test_a_wrong_certificate_gets_nothing(
    authority: str,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    trusted: bool,
):
    """For another name, or by an authority that nobody knows."""
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", authority)
    with Rude(over_tls(name)) as server:
        with pytest.raises(RejectedError, match="unsent: ml-chat: no connection: its certificate is invalid"):
            hook(server, scheme="https").send(post())
        assert server.heard == []


@pytest.mark.parametrize(
    "answer",
    [
        status("404 Not Found", f"nothing at {PATH}".encode()),
        status("500 Oops", b"token plughplugh is odd"),
        status("200 OK", b"xyzzyxyzzy"),
        Act.DROP,
        PATH.encode() + b"\r\n\r\n",
    ],
)
def test_the_url_is_never_repeated(answer: Answer):
    """Neither in what is raised, with all that stands behind it, nor in an answer that is kept."""
    said = ""
    with Rude(http(answer)) as server:
        try:
            said = hook(server).send(post())
        except (RejectedError, UnansweredError) as error:
            said = f"{error} {error.__cause__}"
    assert not [secret for secret in ("xyzzyxyzzy", "plughplugh", "T00000000") if secret in said]
