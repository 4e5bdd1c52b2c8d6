"""Cloud Storage, as one service of the local cloud."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.batch import batch_route
from localcloud.clock import Clock
from localcloud.http import Json
from localcloud.limits import OFF, BucketLimits, Limits, WriteLimits
from localcloud.permissions import entrance
from localcloud.ports import Publish
from localcloud.project import number_of
from localcloud.storage.acl.controls import access_routes
from localcloud.storage.acl.rules import is_uniform
from localcloud.storage.buckets import Buckets
from localcloud.storage.content import Vault
from localcloud.storage.copies import Copies
from localcloud.storage.events import Notifier
from localcloud.storage.front import fronted
from localcloud.storage.hmac import HmacKeys
from localcloud.storage.index import Index
from localcloud.storage.links import StorageLinks
from localcloud.storage.names import check_bucket
from localcloud.storage.notifications import Notifications
from localcloud.storage.objects import Objects
from localcloud.storage.resumable import Resumable
from localcloud.storage.retention import period
from localcloud.storage.store import Store
from localcloud.storage.uploads import Uploads
from localcloud.storage.xmlapi.listing import XmlLists
from localcloud.storage.xmlapi.multipart import XmlMultipart
from localcloud.storage.xmlapi.progress import XmlProgress

UNIFORM: Mapping[str, Any] = {"iamConfiguration": {"uniformBucketLevelAccess": {"enabled": True}}}
"""What the product's own bucket is, as Terraform makes it."""


class StorageService:
    """The JSON API of Cloud Storage over one folder, which a later process can take up again.

    Without a folder it keeps everything in a temporary one, until `close`.
    """

    def __init__(
        self,
        *,
        project: str,
        folder: Path | None = None,
        publish: Publish,
        clock: Clock,
        base_url: Callable[[], str],
        limits: Callable[[], Limits] = lambda: OFF,
    ) -> None:
        """Open the folder, and put right what a crash left; `limits` gives those in force.

        Raises:
            StateInUseError: another process has this folder.
        """
        self._temporary = None if folder else Path(tempfile.mkdtemp(prefix="spotwarden-storage-"))
        home = folder or self._temporary or Path()
        home.mkdir(parents=True, exist_ok=True)
        self._index = Index(home / "index.sqlite")
        number = number_of(project)
        owner = f"functions@{project}.iam.gserviceaccount.com"
        uniform = self._uniform
        self._links = StorageLinks(lambda: entrance() or base_url(), self._kept, uniform, number, owner)
        links = StorageLinks(base_url, self._kept, uniform, number, owner)
        notifier = Notifier(publish=publish, subscriptions=self._index.subscriptions, links=links)
        vault = Vault(home / "content")
        self._store = Store(
            index=self._index,
            vault=vault,
            notifier=notifier,
            clock=clock,
            limits=WriteLimits(limits, elapsed=clock.elapsed),
            bucket_limits=BucketLimits(limits, elapsed=clock.elapsed),
            number=number,
            owner=owner,
        )
        self._store.repair()
        self._buckets = Buckets(store=self._store, links=self._links, project=project)
        self._hmac_keys = HmacKeys(project=project, clock=clock, base_url=self._links.base_url)

    def routes(self) -> list[BaseRoute]:
        """Everything under `/storage/`, and under `/upload`, `/download` and `/batch` of it."""
        store, links = self._store, self._links
        methods = [
            *self._buckets.routes(),
            *Objects(store=store, links=links).routes(),
            *Copies(store=store, links=links).routes(),
            *Uploads(store=store, links=links, resumable=Resumable(store=store, links=links)).routes(),
            *Notifications(store=store, links=links).routes(),
            *self._hmac_keys.routes(),
            *access_routes(store=store, links=links),
            *XmlLists(store=store).routes(),
            *XmlMultipart(store=store, links=links).routes(),
            *XmlProgress(store=store).routes(),
        ]
        return [*fronted(methods), batch_route("/batch/storage/v1")]

    def admin_routes(self) -> list[BaseRoute]:
        """`GET /local/storage`: each bucket with its number of objects and bytes."""
        return [Route("/local/storage", self._overview, methods=["GET"])]

    def ensure_bucket(self, name: str) -> None:
        """Create a bucket with uniform access unless it exists.

        Raises:
            ApiError: 400 when no bucket may be called that.
        """
        if self._index.bucket(check_bucket(name)) is None:
            self._buckets.create(name, UNIFORM)

    def has_bucket(self, name: str) -> bool:
        """Whether there is such a bucket."""
        return self._index.bucket(name) is not None

    def _kept(self, bucket: str) -> timedelta:
        found = self._index.bucket(bucket)
        return period(found) if found else timedelta()

    def _uniform(self, bucket: str) -> bool:
        found = self._index.bucket(bucket)
        return found is None or is_uniform(found.fields)

    def close(self) -> None:
        """Let go of the folder; a temporary one is removed."""
        self._index.close()
        if self._temporary:
            shutil.rmtree(self._temporary)

    async def _overview(self, _request: Request) -> Response:
        totals = self._index.totals()
        rows = [(bucket.name, *totals.get(bucket.name, (0, 0))) for bucket in self._index.buckets()]
        return Json(
            {"buckets": [{"name": name, "objects": count, "bytes": size} for name, count, size in rows]}
        )
