"""Buckets, through Google's Python client."""

from collections.abc import Callable

import httpx
import pytest
from google.api_core import exceptions
from google.cloud import storage

from localcloud.project import number_of


def test_a_bucket_is_created_listed_and_deleted(client: storage.Client):
    """It is there after its creation, and gone after its deletion."""
    client.create_bucket("bucket-b", location="us-central1")
    client.create_bucket("bucket-a")
    assert [bucket.name for bucket in client.list_buckets()] == ["bucket-a", "bucket-b"]
    assert client.get_bucket("bucket-b").location == "US-CENTRAL1"
    client.get_bucket("bucket-b").delete()
    assert client.lookup_bucket("bucket-b") is None


def test_buckets_are_listed_by_prefix_in_pages(client: storage.Client):
    """A page token leads to the next bucket; other prefixes are left out."""
    for name in ("a-1", "b-1", "b-2", "b-3"):
        client.create_bucket("bucket-" + name)
    pages = client.list_buckets(prefix="bucket-b", page_size=2).pages
    assert [[bucket.name for bucket in page] for page in pages] == [
        ["bucket-b-1", "bucket-b-2"],
        ["bucket-b-3"],
    ]


def test_a_name_that_is_taken_is_refused(client: storage.Client, bucket: storage.Bucket):
    """409, in the words of the real API."""
    with pytest.raises(exceptions.Conflict, match="you already own it"):
        client.create_bucket(bucket.name)


def test_a_name_no_bucket_may_have_is_refused(http: httpx.Client):
    """400 names it."""
    answer = http.post("/storage/v1/b", params={"project": "project"}, json={"name": "Bucket"})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "Invalid bucket name: 'Bucket'"


@pytest.mark.parametrize("project", [{}, {"project": "another"}])
def test_another_project_is_refused(http: httpx.Client, project: dict[str, str]):
    """The local cloud has one project; no project at all is refused, too."""
    assert http.get("/storage/v1/b", params=project).status_code == 400


def test_a_bucket_that_is_not_there_is_404(client: storage.Client):
    """In the words of the real API, also for what would be in it."""
    with pytest.raises(exceptions.NotFound, match="The specified bucket does not exist"):
        client.get_bucket("nowhere")
    with pytest.raises(exceptions.NotFound, match="The specified bucket does not exist"):
        list(client.list_blobs("nowhere"))
    with pytest.raises(exceptions.NotFound, match="The specified bucket does not exist"):
        client.bucket("nowhere").blob("a").upload_from_string("x")


def test_a_bucket_with_an_object_is_not_deleted(bucket: storage.Bucket):
    """409 until it is empty, noncurrent versions included."""
    bucket.versioning_enabled = True
    bucket.patch()
    blob = bucket.blob("a")
    blob.upload_from_string("x")
    bucket.blob("a").delete()
    with pytest.raises(exceptions.Conflict, match="not empty"):
        bucket.delete()
    (noncurrent,) = bucket.list_blobs(versions=True)
    noncurrent.delete()
    bucket.delete()


def test_settings_are_patched_one_by_one(bucket: storage.Bucket, http: httpx.Client):
    """A patch changes what it names, removes what it sets to nothing, and counts the metageneration up."""
    bucket.labels = {"team": "ml", "old": "yes"}
    bucket.add_lifecycle_delete_rule(age=7)
    bucket.patch()
    http.patch("/storage/v1/b/bucket", json={"labels": {"old": None}})
    bucket.reload()
    assert bucket.labels == {"team": "ml"}
    assert [rule["condition"] for rule in bucket.lifecycle_rules] == [{"age": 7}]
    assert bucket.metageneration == 3


def test_what_a_bucket_is_cannot_be_patched(http: httpx.Client, bucket: storage.Bucket):
    """Name and location stay."""
    patched = http.patch(f"/storage/v1/b/{bucket.name}", json={"location": "EU"}).json()
    assert patched["location"] == "US"


def test_a_setting_of_the_wrong_type_is_refused(http: httpx.Client, bucket: storage.Bucket):
    """400 names the member, and nothing is changed."""
    answer = http.patch(f"/storage/v1/b/{bucket.name}", json={"labels": {"a": {"b": 1}}})
    assert answer.status_code == 400
    assert "labels" in answer.json()["error"]["message"]
    assert http.get(f"/storage/v1/b/{bucket.name}").json()["metageneration"] == "1"


def test_a_change_depends_on_the_metageneration(bucket: storage.Bucket):
    """412 when it is another one, and the change is made when it is this one."""
    bucket.labels = {"a": "b"}
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.patch(if_metageneration_match=7)
    bucket.patch(if_metageneration_match=1)
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.delete(if_metageneration_match=1)
    bucket.delete(if_metageneration_match=2)


def test_an_iam_policy_is_kept_and_guarded_by_its_etag(
    bucket: storage.Bucket, connect: Callable[[], storage.Client]
):
    """What is set is read back; a policy read before another's change is refused."""
    policy = bucket.get_iam_policy()
    policy.bindings.append({"role": "roles/storage.objectViewer", "members": {"user:a@example.com"}})
    bucket.set_iam_policy(policy)
    again = connect().bucket(bucket.name).get_iam_policy()
    assert [binding["role"] for binding in again.bindings] == ["roles/storage.objectViewer"]
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.set_iam_policy(policy)


def test_every_permission_is_granted(bucket: storage.Bucket):
    """The local bucket checks nobody."""
    wanted = ["storage.objects.get", "storage.buckets.delete"]
    assert bucket.test_iam_permissions(wanted) == wanted


def test_the_layout_and_the_service_account_are_told(http: httpx.Client, bucket: storage.Bucket):
    """The gcloud CLI asks for both before it removes a folder or makes a notification."""
    layout = http.get(f"/storage/v1/b/{bucket.name}/storageLayout").json()
    assert (layout["bucket"], layout["location"]) == (bucket.name, "US")
    account = http.get("/storage/v1/projects/project/serviceAccount").json()
    assert account["email_address"].endswith("gs-project-accounts.iam.gserviceaccount.com")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"storageClass": "BOGUS"}, "storage class 'BOGUS'"),
        ({"versioning": {"enabled": "yes"}}, "$.versioning.enabled"),
        ({"website": {"mainPageSuffix": 7}}, "$.website.mainPageSuffix"),
        ({"cors": [{"origin": "*"}]}, "$.cors[0].origin"),
        ({"logging": {"logBucket": {}}}, "$.logging.logBucket"),
        ({"labels": {"Team": "x"}}, "Invalid argument."),
        ({"labels": {"team": "x y"}}, "Invalid argument."),
        ({"labels": {f"team{number}": "x" for number in range(65)}}, "Invalid argument."),
    ],
)
def test_settings_that_cannot_be_are_refused(http: httpx.Client, bucket: storage.Bucket, settings, why):
    """Also where the bucket is new."""
    for answer in (
        http.patch(f"/storage/v1/b/{bucket.name}", json=settings),
        http.post("/storage/v1/b?project=project", json={"name": "other", **settings}),
    ):
        assert answer.status_code == 400
        assert why in answer.json()["error"]["message"]
    bucket.reload()
    assert bucket.metageneration == 1


@pytest.mark.parametrize("path", ["serviceAccount", "hmacKeys", "hmacKeys/GOOG1E"])
def test_another_project_is_not_known(http: httpx.Client, path):
    """In the words of Google's answer; the number of the local cloud's own is as good as its name."""
    answer = http.get(f"/storage/v1/projects/other/{path}")
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "Unknown project id: other")
    known = http.get(f"/storage/v1/projects/{number_of('project')}/{path}")
    assert known.status_code != 400


def test_the_overview_counts_objects_and_bytes(http: httpx.Client, bucket: storage.Bucket):
    """The admin page shows each bucket, empty ones included."""
    bucket.blob("a").upload_from_string("12345")
    bucket.client.create_bucket("empty")
    assert http.get("/local/storage").json()["buckets"] == [
        {"name": "bucket", "objects": 1, "bytes": 5},
        {"name": "empty", "objects": 0, "bytes": 0},
    ]


def test_whoever_asks_has_the_permissions_that_are_asked_for(http: httpx.Client, bucket: storage.Bucket):
    """The owner of the project asks; `permissions` is repeated."""
    asked = ["storage.objects.get", "storage.objects.list"]
    answer = http.get("/storage/v1/b/bucket/iam/testPermissions", params={"permissions": asked})
    assert answer.json()["permissions"] == asked
    assert bucket.exists()


@pytest.mark.parametrize(("version", "status"), [(1, 400), (2, 400), (3, 200)])
def test_conditions_of_a_policy_need_its_third_version(http: httpx.Client, bucket, version, status):
    """From a lower one Google concludes that the client does not know of them."""
    binding = {"role": "roles/storage.objectViewer", "members": ["user:ada@example.com"]}
    conditional = {**binding, "condition": {"title": "always", "expression": "true"}}
    policy = {"version": version, "bindings": [conditional]}
    bucket.iam_configuration.uniform_bucket_level_access_enabled = True
    bucket.patch()
    assert http.put(f"/storage/v1/b/{bucket.name}/iam", json=policy).status_code == status
    plain = {"version": version, "bindings": [binding]}
    assert http.put(f"/storage/v1/b/{bucket.name}/iam", json=plain).status_code == 200


@pytest.mark.parametrize(("body", "kind"), [({}, "multi-region"), ({"dataLocations": []}, "multi-region")])
def test_a_bucket_in_two_named_regions_is_dual_regional(http: httpx.Client, body, kind):
    """Whatever the continent is that they are of."""
    made = {"name": "plain", "location": "US", "customPlacementConfig": body}
    assert http.post("/storage/v1/b?project=project", json=made).json()["locationType"] == kind
    both = {"dataLocations": ["US-EAST1", "US-WEST1"]}
    made = {"name": "paired", "location": "US", "customPlacementConfig": both}
    assert http.post("/storage/v1/b?project=project", json=made).json()["locationType"] == "dual-region"
