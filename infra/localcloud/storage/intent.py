"""What an upload is to become: the same for all three upload types."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from localcloud.storage.acl.lists import Acl
from localcloud.storage.acl.rules import object_list
from localcloud.storage.checksums import Claims
from localcloud.storage.conditions import Conditions
from localcloud.storage.fields import new_object, read_object
from localcloud.storage.model import Blob, Content, Draft, Fields
from localcloud.storage.names import check_object
from localcloud.storage.store import Store


@dataclass(frozen=True, kw_only=True)
class Intent:
    """An object to write, once its content is there, if the conditions hold then."""

    bucket: str
    name: str
    fields: Fields
    body: Mapping[str, Any]
    conditions: Conditions
    acl: Acl | None

    @classmethod
    def read(
        cls,
        *,
        bucket: str,
        query: Mapping[str, str],
        body: Mapping[str, Any],
        content_type: str = "",
        number: str,
    ) -> Self:
        """Read the parameters and the `Object` body of an insert; `content_type` counts if the body has none.

        `number` is the project's.

        Raises:
            ApiError: 400 for a bad name, member or condition.
        """
        fields = dict(new_object(read_object(body)))
        if content_type:
            fields.setdefault("contentType", content_type)
        if encoding := query.get("contentEncoding"):
            fields["contentEncoding"] = encoding
        return cls(
            bucket=bucket,
            name=check_object(query.get("name") or body.get("name")),
            fields=fields,
            body=body,
            conditions=Conditions.read(query),
            acl=object_list(query, body, number),
        )

    def complete(
        self,
        store: Store,
        content: Content,
        claims: Claims,
        *,
        within: Callable[[Blob], None] = lambda _blob: None,
    ) -> Blob:
        """Write the object, and in the same commit `within`; when it is refused, nothing of it stays.

        Raises:
            ApiError: 400 for a checksum that does not hold, and what `Store.write` raises.
        """
        draft = Draft(bucket=self.bucket, name=self.name, content=content, fields=self.fields, acl=self.acl)
        return store.write(draft, self.conditions, claims=claims, within=within)
