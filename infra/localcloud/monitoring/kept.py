"""Alert policies and notification channels: checked, kept and given back; nothing is evaluated or sent."""

import itertools
from collections.abc import Callable, Iterator

from localcloud.clock import Clock
from localcloud.monitoring.filter import name_filter
from localcloud.monitoring.names import check_project, tail
from localcloud.rpc import Raw, RpcError, page


class KeptPoints:
    """Resources of one kind. `check` refuses one that cannot be, and fills in what the server sets."""

    def __init__(self, *, project: str, kind: str, clock: Clock, check: Callable[[Raw], None]) -> None:
        self._project = project
        self._kind = kind
        self._clock = clock
        self._check = check
        self._found: dict[str, Raw] = {}
        self._numbers = itertools.count(int(clock.now().timestamp() * 1000))

    def all(self) -> Iterator[Raw]:
        """All of them."""
        return iter(self._found.values())

    def number(self) -> str:
        """A number that no other resource has."""
        return str(next(self._numbers))

    def create(self, parent: str, given: Raw) -> Raw:
        """Keep a new one under a name that the server chooses."""
        check_project(parent, self._project)
        made = type(given)()
        made.CopyFrom(given)
        made.name = f"projects/{self._project}/{self._kind}/{self.number()}"
        self._check(made)
        self._stamp(made, "creation_record")
        self._stamp(made, "mutation_record")
        self._found[made.name] = made
        return made

    def get(self, name: str) -> Raw:
        """Find one by its name.

        Raises:
            RpcError: NOT_FOUND.
        """
        tail(name, self._project, self._kind)
        found = self._found.get(name)
        if found is None:
            raise RpcError("NOT_FOUND", f"Requested entity was not found: {name}")
        return found

    def update(self, given: Raw, mask: Raw) -> Raw:
        """Change the fields that the mask names; all of them without a mask."""
        present = self.get(given.name)
        fresh = type(present)()
        fresh.CopyFrom(present if mask.paths else given)
        try:
            mask.MergeMessage(given, fresh, replace_message_field=True, replace_repeated_field=True)
        except ValueError as error:
            text = f'Field updateMask had an invalid value of "{mask.ToJsonString()}": {error}'
            raise RpcError("INVALID_ARGUMENT", text) from error
        fresh.name = present.name
        self._check(fresh)
        self._stamp(fresh, "mutation_record")
        self._found[fresh.name] = fresh
        return fresh

    def delete(self, name: str) -> None:
        """Remove one.

        Raises:
            RpcError: NOT_FOUND.
        """
        self.get(name)
        del self._found[name]

    def page(self, request: Raw) -> tuple[list[Raw], str]:
        """One page of those that match the request's filter."""
        check_project(request.name, self._project)
        wanted = name_filter(request.filter, field_text)
        found = {name: each for name, each in self._found.items() if wanted(each)}
        names, token = page(found, size=request.page_size, token=request.page_token)
        return [found[name] for name in names], token

    def _stamp(self, resource: Raw, field: str) -> None:
        """Note that the resource was made or changed now; channels keep every change, policies the last."""
        record = (
            getattr(resource, field) if hasattr(resource, field) else getattr(resource, f"{field}s").add()
        )
        record.mutate_time.FromDatetime(self._clock.now())


def field_text(resource: Raw, path: str) -> str:
    """A field of a resource as filters compare it, such as `display_name` or `user_labels.team`."""
    first, _, rest = path.partition(".")
    # proto-plus calls a field `type_` that is `type` everywhere else.
    found = getattr(resource, first, getattr(resource, f"{first}_", ""))
    if rest and hasattr(found, "get"):
        return str(found.get(rest, ""))
    plain = getattr(found, "value", found)  # inside a BoolValue
    return str(plain).lower() if isinstance(plain, bool) else str(plain)
