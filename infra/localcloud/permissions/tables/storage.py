"""The JSON API of Cloud Storage.

From "IAM permissions for JSON methods" and "IAM permissions for XML requests" (Cloud Storage). What an
upload, copy or composition needs besides if it replaces an object ("Upload objects from a file system":
`storage.objects.delete`) is asked for where that is known, in the store.
"""

from collections.abc import Iterator, Sequence

from localcloud.permissions.tables.row import Key, PermissionAsk, Rows, rows

_OBJECTS = rows(
    """
    GET    /storage/v1/b                            storage.buckets.list
    POST   /storage/v1/b                            storage.buckets.create
    GET    /storage/v1/b/{bucket}                   storage.buckets.get@bucket
    PATCH  /storage/v1/b/{bucket}                   storage.buckets.update@bucket
    PUT    /storage/v1/b/{bucket}                   storage.buckets.update@bucket
    DELETE /storage/v1/b/{bucket}                   storage.buckets.delete@bucket
    GET    /storage/v1/b/{bucket}/storageLayout     storage.buckets.get@bucket
    GET    /storage/v1/b/{bucket}/managedFolders    storage.managedFolders.list@bucket
    POST   /storage/v1/b/{bucket}/lockRetentionPolicy   storage.buckets.update@bucket
    GET    /storage/v1/b/{bucket}/iam               storage.buckets.getIamPolicy@bucket
    PUT    /storage/v1/b/{bucket}/iam               storage.buckets.setIamPolicy@bucket
    GET    /storage/v1/b/{bucket}/iam/testPermissions   -
    GET    /storage/v1/projects/{project}/serviceAccount  resourcemanager.projects.get
    POST   /storage/v1/projects/{project}/hmacKeys  storage.hmacKeys.create
    GET    /storage/v1/projects/{project}/hmacKeys  storage.hmacKeys.list
    GET    /storage/v1/projects/{project}/hmacKeys/{accessId}   storage.hmacKeys.get
    PUT    /storage/v1/projects/{project}/hmacKeys/{accessId}   storage.hmacKeys.update
    DELETE /storage/v1/projects/{project}/hmacKeys/{accessId}   storage.hmacKeys.delete

    GET    /storage/v1/b/{bucket}/o                 storage.objects.list@bucket
    GET    /storage/v1/b/{bucket}/o/{object}        storage.objects.get@bucket
    PATCH  /storage/v1/b/{bucket}/o/{object}        storage.objects.get@bucket storage.objects.update@bucket
    PUT    /storage/v1/b/{bucket}/o/{object}        storage.objects.get@bucket storage.objects.update@bucket
    DELETE /storage/v1/b/{bucket}/o/{object}        storage.objects.delete@bucket
    GET    /download/storage/v1/b/{bucket}/o/{object}   storage.objects.get@bucket

    POST   /upload/storage/v1/b/{bucket}/o              storage.objects.create@bucket
    PUT    /upload/storage/v1/b/{bucket}/o              storage.objects.create@bucket
    DELETE /upload/storage/v1/b/{bucket}/o              storage.objects.create@bucket
    POST   /resumable/upload/storage/v1/b/{bucket}/o    storage.objects.create@bucket
    PUT    /resumable/upload/storage/v1/b/{bucket}/o    storage.objects.create@bucket
    DELETE /resumable/upload/storage/v1/b/{bucket}/o    storage.objects.create@bucket

    POST   /storage/v1/b/{bucket}/notificationConfigs   storage.buckets.update@bucket
    GET    /storage/v1/b/{bucket}/notificationConfigs   storage.buckets.get@bucket
    GET    /storage/v1/b/{bucket}/notificationConfigs/{notification}   storage.buckets.get@bucket
    DELETE /storage/v1/b/{bucket}/notificationConfigs/{notification}   storage.buckets.update@bucket
    POST   /batch/storage/v1                        -

    GET    /storage/xml/objects/{bucket}            storage.objects.list@bucket
    GET    /storage/xml/uploads/{bucket}            storage.multipartUploads.list@bucket
    GET    /storage/xml/parts/{bucket}/{object}     storage.multipartUploads.listParts@bucket
    DELETE /storage/xml/parts/{bucket}/{object}     storage.multipartUploads.abort@bucket
    """
)

_FROM = "/storage/v1/b/{sourceBucket}/o/{sourceObject}"
_TO = "/b/{destinationBucket}/o/{destinationObject}"
_COPY = (
    PermissionAsk("storage.objects.get", "sourceBucket"),
    PermissionAsk("storage.objects.create", "destinationBucket"),
)
_SEND = (
    PermissionAsk("storage.multipartUploads.create", "bucket"),
    PermissionAsk("storage.objects.create", "bucket"),
)

_LISTS = {
    "/storage/v1/b/{bucket}/acl": "buckets",
    "/storage/v1/b/{bucket}/defaultObjectAcl": "buckets",
    "/storage/v1/b/{bucket}/o/{object}/acl": "objects",
}
"""Access control lists, and of what they are."""


def _access_lists() -> Iterator[tuple[Key, Sequence[PermissionAsk]]]:
    for path, what in _LISTS.items():
        asked = [PermissionAsk(f"storage.{what}.{name}", "bucket") for name in ("get", "getIamPolicy")]
        more = [PermissionAsk(f"storage.{what}.{name}", "bucket") for name in ("setIamPolicy", "update")]
        for verb, where in (("GET", path), ("GET", path + "/{entity}")):
            yield (verb, where), asked
        yield ("POST", path), [*asked, *more]
        for verb in ("PATCH", "PUT", "DELETE"):
            yield (verb, path + "/{entity}"), [*asked, *more]


STORAGE: Rows = {
    **_OBJECTS,
    **dict(_access_lists()),
    ("POST", "/storage/xml/uploads/{bucket}/{object}"): _SEND,
    ("PUT", "/storage/xml/parts/{bucket}/{object}"): _SEND,
    ("POST", "/storage/xml/parts/{bucket}/{object}"): _SEND,
    ("POST", f"{_FROM}/rewriteTo{_TO}"): _COPY,
    ("POST", f"{_FROM}/copyTo{_TO}"): _COPY,
    ("POST", "/storage/v1/b/{bucket}/o/{sourceObject}/moveTo/o/{destinationObject}"): (
        PermissionAsk("storage.objects.move", "bucket"),
        PermissionAsk("storage.objects.create", "bucket"),
    ),
    ("POST", f"/storage/v1{_TO}/compose"): (
        PermissionAsk("storage.objects.get", "destinationBucket"),
        PermissionAsk("storage.objects.create", "destinationBucket"),
    ),
}
