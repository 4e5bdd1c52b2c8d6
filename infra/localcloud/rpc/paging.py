"""Pages of a listing. A token holds the last name shown, so items may come and go between two pages."""

import base64
import binascii
from collections.abc import Iterable
from itertools import islice

from localcloud.rpc.codes import RpcError


def page(names: Iterable[str], *, size: int, token: str, most: int = 1000) -> tuple[list[str], str]:
    """The names of one page in ascending order, and the token of the next, empty at the end.

    `size` 0 means `most`, and no page holds more.

    Raises:
        RpcError: INVALID_ARGUMENT for a negative size or a token that no page handed out.
    """
    if size < 0:
        raise RpcError("INVALID_ARGUMENT", f"The page size must not be negative, but it is {size}.")
    after = _read(token)
    rest = (name for name in sorted(names) if name > after)
    wanted = min(size or most, most)
    found = list(islice(rest, wanted + 1))
    return found[:wanted], _write(found[wanted - 1]) if len(found) > wanted else ""


def _write(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def _read(token: str) -> str:
    try:
        return base64.b64decode(token.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError) as error:
        raise RpcError(
            "INVALID_ARGUMENT", "The page token is not one that this listing handed out."
        ) from error
