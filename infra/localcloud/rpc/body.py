"""JSON bodies of the APIs whose messages no package here defines: read into structs of our own."""

from typing import TypeVar

import msgspec
from starlette.requests import Request

from localcloud.rpc.codes import RpcError

Body = TypeVar("Body", bound=msgspec.Struct)


async def read_body(request: Request, kind: type[Body]) -> Body:
    """Read a request's body as `kind`; an empty body is taken for `{}`.

    Raises:
        RpcError: INVALID_ARGUMENT, with the field that does not fit.
    """
    raw = await request.body()
    try:
        return msgspec.json.decode(raw.strip() or b"{}", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RpcError("INVALID_ARGUMENT", f"Invalid JSON payload received. {error}") from error
