"""Fetching scripts that the metadata only names: `startup-script-url`, `shutdown-script-url`."""

import asyncio
import ssl
from urllib.parse import quote

import httpx

from localcloud.outbound import NO_TLS

TIMEOUT_SECONDS = 60


class DownloadError(Exception):
    """A script could not be fetched; says which and why."""


async def download(url: str, *, storage: str) -> str:
    """The text at a `gs://`, `http://` or `https://` URL; `storage` is the Cloud Storage endpoint.

    Raises `DownloadError`.
    """
    try:
        if url.startswith("gs://"):
            return await _get(_media(url, storage), trust_env=False, tls=NO_TLS)
        return await _get(url, trust_env=True, tls=await asyncio.to_thread(ssl.create_default_context))
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeDecodeError) as error:
        raise DownloadError(f"{url}: {error or type(error).__name__}") from error


def _media(url: str, storage: str) -> str:
    bucket, _, name = url.removeprefix("gs://").partition("/")
    if not bucket or not name:
        raise DownloadError(f"{url}: a script in Cloud Storage is named gs://BUCKET/OBJECT")
    return f"{storage}/storage/v1/b/{quote(bucket, safe='')}/o/{quote(name, safe='')}?alt=media"


async def _get(url: str, *, trust_env: bool, tls: ssl.SSLContext) -> str:
    async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=trust_env, verify=tls) as client:
        answer = await client.get(url, follow_redirects=True)
    answer.raise_for_status()
    return answer.content.decode()
