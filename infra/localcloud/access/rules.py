"""What a request must be like so that no web page can have made it: pure decisions about its head."""

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

_HOST = re.compile(r"(?P<name>\[[^\]]*\]|[^:\[\]]*)(?::(?P<port>\d{1,5}))?")
_DEFAULT_PORT = "80"
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json", re.IGNORECASE)
_CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_OWN = ("same-origin", "none")
"""What `Sec-Fetch-Site` says of our own pages, and of a person who types an address."""

Paths = Callable[[str], bool]


def no_path(_path: str) -> bool:
    """None."""
    return False


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The head of a request, its header names in small letters, and the port that it came to.

    `absolute`: the request line has a whole URL, as only the client of a proxy writes it.
    """

    method: str
    path: str
    headers: Mapping[str, Sequence[str]]
    port: int
    absolute: bool = False

    def header(self, name: str) -> str:
        """The value of a header, "" where there is none."""
        return next(iter(self.headers.get(name, ())), "")

    @property
    def has_body(self) -> bool:
        """Whether anything is sent besides the head."""
        return "transfer-encoding" in self.headers or self.header("content-length") not in ("", "0")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of one door.

    `pages` are what people are led to by a link from elsewhere, such as from a mail. `json` are the methods
    whose body is JSON. `names` are names of the door besides those of loopback, at the port for http.
    A `proxy` takes what is meant for others.
    """

    pages: Paths = no_path
    json: Paths = no_path
    names: frozenset[str] = field(default_factory=frozenset)
    proxy: bool = False

    def refusal(self, asked: Asked) -> str:
        """Why this is not answered, in a sentence; "" where it is."""
        if self.proxy and (asked.absolute or asked.method == "CONNECT"):
            return ""
        return self._host(asked) or self._page(asked) or self._body(asked)

    def _host(self, asked: Asked) -> str:
        hosts = asked.headers.get("host", ())
        if len(hosts) == 1 and (match := _HOST.fullmatch(hosts[0])):
            name, port = match["name"].lower(), match["port"] or _DEFAULT_PORT
            if _is_loopback(name) and port == str(asked.port):
                return ""
            if name in self.names and port == _DEFAULT_PORT:
                return ""
        said = ", ".join(hosts) or "nothing"
        return f"The local cloud is called localhost:{asked.port} or 127.0.0.1:{asked.port}, not {said!r}."

    def _page(self, asked: Asked) -> str:
        site = asked.header("sec-fetch-site")
        own = f"http://{asked.header('host')}".lower()
        for origin in asked.headers.get("origin", ()):
            # A page that sends no referrer posts its own forms with the origin "null" (Fetch, "append a
            # request `Origin` header"); the browser says all the same that it is the page's own.
            if origin.lower() != own and not (origin == "null" and site == "same-origin"):
                return f"The local cloud answers no web page but its own; this request comes from {origin!r}."
        if not site or site in _OWN or self._follows_link(asked):
            return ""
        return f"The local cloud answers no web page but its own; this request comes from a page, {site}."

    def _follows_link(self, asked: Asked) -> bool:
        """Whether a person follows a link to one of the pages, in a tab and not in a frame."""
        navigates = asked.header("sec-fetch-mode") == "navigate"
        in_tab = asked.header("sec-fetch-dest") == "document"
        return asked.method in ("GET", "HEAD") and navigates and in_tab and self.pages(asked.path)

    def _body(self, asked: Asked) -> str:
        # A long question comes as a form in a POST, and an upload begins with the type of what follows. No
        # page can send either header without being asked first (CORS).
        question = asked.header("x-http-method-override") == "GET"
        upload = asked.header("x-goog-resumable") == "start"
        if question or upload or asked.method not in _CHANGES or not self.json(asked.path):
            return ""
        kind = asked.header("content-type").partition(";")[0].strip()
        if _JSON.fullmatch(kind) or not (kind or asked.has_body):
            return ""
        said = kind or "nothing"
        return f"{asked.method} {asked.path} takes JSON, sent as application/json and not as {said}."


def _is_loopback(name: str) -> bool:
    if name.removesuffix(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False
