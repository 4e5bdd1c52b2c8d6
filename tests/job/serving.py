"""A small server of a test's own: what a bucket or a metadata server would answer, or not."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class QuietHandler(BaseHTTPRequestHandler):
    """Answers without a line in the test's output."""

    def log_message(self, *_words: object) -> None:
        """Say nothing."""

    def answer_empty(self) -> None:
        """200 and nothing else."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextmanager
def serving(handler: type[QuietHandler]) -> Iterator[str]:
    """Serve on loopback; gives host and port. Nothing of it is left."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
