"""Around every method: what is not done is refused before anything is, and who calls is known."""

from collections.abc import Awaitable, Callable, Iterable, Iterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from localcloud.http import RawRoute
from localcloud.storage.acl.author import note_author
from localcloud.storage.undone import check_request

Endpoint = Callable[[Request], Awaitable[Response]]


def fronted(routes: Iterable[RawRoute]) -> Iterator[BaseRoute]:
    """The same routes, each behind the front."""
    for route in routes:
        methods = sorted((route.methods or set()) - {"HEAD"})
        yield RawRoute(route.path, _behind(route.endpoint, route.path), methods=methods)


def _behind(endpoint: Endpoint, path: str) -> Endpoint:
    async def answer(request: Request) -> Response:
        check_request(request.headers, request.query_params, path)
        note_author(request.headers)
        return await endpoint(request)

    return answer
