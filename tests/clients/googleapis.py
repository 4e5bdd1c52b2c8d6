"""An HTTPS proxy on loopback: what a client says to Google's APIs, the local cloud answers.

Tools that know no endpoint but Google's stay as they are: they find the proxy, and the authority that signed
its certificate, by the environment variables that their HTTP libraries document. Links in answers lead to
`www.googleapis.com`, as Google's do. Any other host is refused, so nothing leaves this machine. What APIs are
like (Google's discovery service) is answered from the documents that google-api-python-client ships.
"""

import http.client
import re
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import trustme
from googleapiclient.discovery_cache import get_static_doc

_DISCOVERY = re.compile(r"/discovery/v1/apis/(?P<api>\w+)/(?P<version>\w+)/rest")
_METADATA = re.compile(r"http://metadata\.google\.internal\.?(?=/)")
LINKS = b"https://www.googleapis.com"
_ALONG_THE_WAY = {
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
}


@dataclass(frozen=True, kw_only=True)
class Said:
    """One call that went through, and how it was answered."""

    host: str
    method: str
    path: str
    status: int


@dataclass(kw_only=True)
class GoogleApis:
    """What went through the proxy, and the environment of a client that is to use it."""

    url: str
    authority: Path
    said: list[Said] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def environment(self) -> Mapping[str, str]:
        """Documented variables of httplib2, requests, OpenSSL, Node and the proxies of them all."""
        authorities = ("HTTPLIB2_CA_CERTS", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")
        return {
            **dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), self.url),
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            **dict.fromkeys(authorities, str(self.authority)),
        }

    def undone(self) -> list[str]:
        """The calls that the local cloud does not do or does not know, and the hosts that were refused."""
        failed = [said for said in self.said if said.status >= http.client.INTERNAL_SERVER_ERROR]
        return [*map(str, failed), *self.refused]


@contextmanager
def google_apis(target: str, folder: Path) -> Iterator[GoogleApis]:
    """Answer for Google's APIs by the local cloud at this URL."""
    authority = trustme.CA()
    certificate = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("*.googleapis.com").configure_cert(context)
    server = _Server(target, context)
    server.apis = GoogleApis(url=f"http://127.0.0.1:{server.server_port}", authority=certificate)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.apis
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    apis: GoogleApis

    def __init__(self, target: str, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = urlsplit(target)
        self.context = context

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is nobody's fault."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    host = ""

    def do_CONNECT(self) -> None:
        """Go on as the host that the client wants to reach, if that is one of Google's APIs."""
        host = self.path.rpartition(":")[0]
        if not host.endswith(".googleapis.com"):
            self.server.apis.refused.append(host)
            self.send_error(403)
            return
        self.send_response(200, "Connection established")
        self.end_headers()
        self.host = host
        self.rfile.close()
        self.connection = self.server.context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.close_connection = False

    def finish(self) -> None:
        """Close the encrypted socket, too: the server knows only the one below it."""
        super().finish()
        self.connection.close()

    def do_GET(self) -> None:
        """Ask the local cloud, and pass its answer on; it is the metadata server of this machine, too."""
        if not self.host and not _METADATA.match(self.path):
            self.server.apis.refused.append(self.path)
            self.send_error(403)
            return
        self.path = _METADATA.sub("", self.path, count=1)
        body = self._body()
        if asked := _DISCOVERY.match(self.path):
            self._describe(asked["api"], asked["version"])
            return
        here = self.server.target
        upstream = http.client.HTTPConnection(here.netloc, timeout=300)
        try:
            upstream.request(self.command, here.path + self.path, body, self._passed())
            answer = upstream.getresponse()
            self._pass_on(answer, answer.read())
        finally:
            upstream.close()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET

    def _describe(self, api: str, version: str) -> None:
        """The discovery document of an API."""
        document = (get_static_doc(api, version) or "").encode()
        self.send_response_only(200 if document else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(document)))
        self.end_headers()
        self.wfile.write(document)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        pieces = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _passed(self) -> dict[str, str]:
        kept = {key: value for key, value in self.headers.items() if key.lower() not in _ALONG_THE_WAY}
        return {**kept, "Host": self.server.target.netloc, "Accept-Encoding": "identity"}

    def _pass_on(self, answer: http.client.HTTPResponse, body: bytes) -> None:
        """The answer with its links as Google has them."""
        body = re.sub(rb"http://" + re.escape(self.server.target.netloc.encode()), LINKS, body)
        self.server.apis.said.append(
            Said(host=self.host, method=self.command, path=self.path, status=answer.status)
        )
        self.send_response_only(answer.status, answer.reason)
        for key, value in answer.getheaders():
            if key.lower() not in _ALONG_THE_WAY:
                self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Keep quiet."""
