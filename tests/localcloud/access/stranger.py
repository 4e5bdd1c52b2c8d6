"""What another user of the machine tries, each way in; prints what it was told. Run by itself."""

import json
import smtplib
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import grpc

# grpc types the request of a method without a serializer as anything but bytes.
NOTHING: Any = [b""]


def over_http(url: str, body: str | None = None) -> str:
    """A call, correct in all but who makes it."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    headers = {"content-type": "application/json", "metadata-flavor": "Google"}
    try:
        request = urllib.request.Request(url, body.encode() if body else None, headers)
        with opener.open(request) as answer:
            return f"{answer.status} {answer.read(200)!r}"
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        return f"{error.code} {json.loads(text)['error']['message'] if text.startswith('{') else text}"


def over_grpc(target: str, method: str) -> str:
    """A call of a method with an empty request; a stream of calls where the name says so."""
    channel = grpc.insecure_channel(target)
    try:
        if "Streaming" in method:
            return f"OK {list(channel.stream_stream(method)(iter(NOTHING)))!r}"
        return f"OK {channel.unary_unary(method)(NOTHING[0])!r}"
    except grpc.RpcError as error:
        return f"{error.code().name} {error.details()}"
    finally:
        channel.close()


def over_smtp(port: int) -> str:
    """A mail."""
    try:
        with smtplib.SMTP("127.0.0.1", port) as smtp:
            smtp.sendmail("eve@example.com", ["ada@example.com"], "Subject: forged\n\nHere.\n")
    except smtplib.SMTPResponseException as error:
        return f"{error.smtp_code} {error.smtp_error!r}"
    return "250"


WAYS: dict[str, Callable[..., str]] = {"http": over_http, "grpc": over_grpc, "smtp": over_smtp}

if __name__ == "__main__":
    asked = json.load(sys.stdin)
    json.dump({name: WAYS[way](*arguments) for name, (way, *arguments) in asked.items()}, sys.stdout)
