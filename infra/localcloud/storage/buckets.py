"""Buckets: their resources, their IAM policies (kept, not enforced), their layout."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from localcloud.errors import ApiError
from localcloud.http import Json, RawRoute, read_json
from localcloud.storage.acl.rules import bucket_lists, is_uniform, with_access
from localcloud.storage.conditions import Conditions, NotModified
from localcloud.storage.etags import check_etag
from localcloud.storage.fields import FIXED_IN_BUCKET, merge, read_bucket
from localcloud.storage.links import StorageLinks, wants_full
from localcloud.storage.listing import page_size
from localcloud.storage.model import Bucket
from localcloud.storage.names import check_bucket
from localcloud.storage.project import check_project
from localcloud.storage.resource import etag, listing_json
from localcloud.storage.retention import locked, with_policy
from localcloud.storage.store import Store

ALL = "/storage/v1/b"
ONE = "/storage/v1/b/{bucket}"
CONDITIONAL = 3
"""The first version of a policy that has conditions."""


class Buckets:
    """What can be asked of buckets and done to them."""

    def __init__(self, *, store: Store, links: StorageLinks, project: str) -> None:
        self._store = store
        self._links = links
        self._project = project

    def routes(self) -> list[RawRoute]:
        """The bucket paths."""
        return [
            RawRoute(ALL, self._list, methods=["GET"]),
            RawRoute(ALL, self._insert, methods=["POST"]),
            RawRoute(ONE, self._get, methods=["GET"]),
            RawRoute(ONE, self._patch, methods=["PATCH"]),
            RawRoute(ONE, self._update, methods=["PUT"]),
            RawRoute(ONE, self._delete, methods=["DELETE"]),
            RawRoute(ONE + "/lockRetentionPolicy", self._lock, methods=["POST"]),
            RawRoute(ONE + "/storageLayout", self._layout, methods=["GET"]),
            RawRoute(ONE + "/managedFolders", self._managed_folders, methods=["GET"]),
            RawRoute(ONE + "/iam", self._get_policy, methods=["GET"]),
            RawRoute(ONE + "/iam", self._set_policy, methods=["PUT"]),
            RawRoute(ONE + "/iam/testPermissions", self._test_permissions, methods=["GET"]),
            RawRoute("/storage/v1/projects/{project}/serviceAccount", self._service_account, methods=["GET"]),
        ]

    async def _list(self, request: Request) -> Response:
        self._check_project(request)
        query = request.query_params
        buckets = [
            bucket
            for bucket in self._store.index.buckets()
            if bucket.name.startswith(query.get("prefix", "")) and bucket.name > query.get("pageToken", "")
        ]
        page = buckets[: page_size(query)]
        token = page[-1].name if len(page) < len(buckets) else ""
        full = wants_full(query)
        items = [self._links.bucket(bucket, full=full) for bucket in page]
        return Json(listing_json("storage#buckets", items, nextPageToken=token))

    async def _insert(self, request: Request) -> Response:
        self._check_project(request)
        body = await read_json(request)
        self._store.buckets.limits.check_creation()
        query = request.query_params
        bucket = self.create(check_bucket(body.get("name")), body, query)
        self._store.buckets.limits.count_creation()
        return Json(self._links.bucket(bucket, full=wants_full(query, body)))

    def create(
        self, name: str, body: Mapping[str, Any], query: Mapping[str, str] = MappingProxyType({})
    ) -> Bucket:
        """Create a bucket with the settings of a `Bucket` body, and the lists that parameters stand for.

        Raises:
            ApiError: 400 for a setting of the wrong type, 409 when the name is taken.
        """
        fields = dict(merge({}, read_bucket(body)))
        fields.pop("name", None)
        fields["location"] = fields.get("location", "US").upper()
        fields.setdefault("storageClass", "STANDARD")
        now = self._store.now()
        stamped = with_access({}, with_policy({}, fields, name=name, now=now), now)
        lists = bucket_lists(stamped, query, body, self._store.number)
        return self._store.buckets.create(name, stamped, **lists)

    async def _get(self, request: Request) -> Response:
        bucket = self._bucket(request)
        try:
            Conditions.read(request.query_params).check_bucket(bucket)
            check_etag(request.headers, etag(bucket.metageneration), reading=True)
        except NotModified:
            return Response(status_code=304)
        return Json(self._links.bucket(bucket, full=wants_full(request.query_params)))

    async def _lock(self, request: Request) -> Response:
        """Lock the retention policy, by one who knows of which metageneration: it is for good."""
        if "ifMetagenerationMatch" not in request.query_params:
            message = "Required parameter: ifMetagenerationMatch"
            raise ApiError(400, "required", message, location="ifMetagenerationMatch")
        bucket = self._checked(request)
        return Json(self._links.bucket(self._store.buckets.change(bucket, fields=locked(bucket))))

    async def _patch(self, request: Request) -> Response:
        whole = await read_json(request)
        body = read_bucket(whole)
        bucket = self._checked(request)
        return self._change(request, bucket, merge(bucket.fields, _changeable(body)), whole)

    async def _update(self, request: Request) -> Response:
        whole = await read_json(request)
        body = read_bucket(whole)
        bucket = self._checked(request)
        stays = (*FIXED_IN_BUCKET, "storageClass", "iamConfiguration")
        fixed = {key: value for key, value in bucket.fields.items() if key in stays}
        return self._change(request, bucket, merge(fixed, _changeable(body)), whole)

    def _change(
        self, request: Request, bucket: Bucket, fields: Mapping[str, Any], body: Mapping[str, Any]
    ) -> Response:
        query, now = request.query_params, self._store.now()
        fields = with_policy(bucket.fields, fields, name=bucket.name, now=now)
        fields = with_access(bucket.fields, fields, now)
        lists = bucket_lists(fields, query, body, self._store.number)
        changed = self._store.buckets.change(bucket, fields=fields, **lists)
        return Json(self._links.bucket(changed, full=wants_full(query, default=True)))

    async def _delete(self, request: Request) -> Response:
        conditions = Conditions.read(request.query_params)
        self._checked(request)
        self._store.buckets.delete(request.path_params["bucket"], conditions)
        return Response(status_code=204)

    async def _layout(self, request: Request) -> Response:
        bucket = self._links.bucket(self._bucket(request))
        kept = {
            key: bucket[key] for key in ("location", "locationType", "hierarchicalNamespace") if key in bucket
        }
        return Json({"kind": "storage#storageLayout", "bucket": bucket["name"], **kept})

    async def _managed_folders(self, request: Request) -> Response:
        """None: `gcloud storage rm -r` asks before it deletes a bucket."""
        self._bucket(request)
        return Json(listing_json("storage#managedFolders", []))

    async def _get_policy(self, request: Request) -> Response:
        return Json(_policy(self._bucket(request)))

    async def _set_policy(self, request: Request) -> Response:
        body = await read_json(request)
        bucket = self._bucket(request)
        if body.get("etag") not in (None, "", _policy(bucket)["etag"]):
            raise ApiError(
                412, "conditionNotMet", "The policy was changed since it was read: its etag differs."
            )
        policy: dict[str, Any] = {key: body[key] for key in ("version", "bindings") if key in body}
        _check_conditions(bucket, policy)
        return Json(_policy(self._store.buckets.change(bucket, policy=policy)))

    async def _test_permissions(self, request: Request) -> Response:
        self._bucket(request)
        asked = request.query_params.getlist("permissions")
        return Json({"kind": "storage#testIamPermissionsResponse", "permissions": asked})

    async def _service_account(self, request: Request) -> Response:
        check_project(request.path_params["project"], self._project)
        address = f"service-{self._links.project_number}@gs-project-accounts.iam.gserviceaccount.com"
        return Json({"kind": "storage#serviceAccount", "email_address": address})

    def _check_project(self, request: Request) -> None:
        project = request.query_params.get("project", "")
        if not project:
            raise ApiError(400, "required", "Required parameter: project", location="project")
        check_project(project, self._project)

    def _bucket(self, request: Request) -> Bucket:
        return self._store.buckets.get(request.path_params["bucket"])

    def _checked(self, request: Request) -> Bucket:
        bucket = self._bucket(request)
        Conditions.read(request.query_params).check_bucket(bucket)
        check_etag(request.headers, etag(bucket.metageneration), reading=False)
        return bucket


def _changeable(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in FIXED_IN_BUCKET}


def _check_conditions(bucket: Bucket, policy: Mapping[str, Any]) -> None:
    """Refuse conditions beside access control lists, or from a client that might not know of conditions."""
    conditional = any(binding.get("condition") for binding in policy.get("bindings", ()))
    if conditional and not is_uniform(bucket.fields):
        message = "To set IAM conditions on a bucket, enable uniform bucket-level access first."
        raise ApiError(412, "conditionNotMet", message)
    if conditional and int(policy.get("version") or 1) < CONDITIONAL:
        message = f"The policy version must be at least {CONDITIONAL} for a policy with conditions."
        raise ApiError(400, "invalid", message)


def _policy(bucket: Bucket) -> dict[str, Any]:
    return {
        "kind": "storage#policy",
        "resourceId": f"projects/_/buckets/{bucket.name}",
        "version": 1,
        "etag": etag(bucket.metageneration),
        "bindings": [],
        **bucket.policy,
    }
