"""Images: those of this project, and the public ones of the catalog."""

import re
import zlib
from collections.abc import Iterator

from localcloud.compute.catalog import PublicImages
from localcloud.compute.refusals import invalid_field, not_found
from localcloud.compute.shelf import Resource, shared
from localcloud.compute.site import Site

_FORM = re.compile(
    r"(?:(?:https?://[^/]+/(?:compute/)?(?:v1|beta|alpha)/)?projects/(?P<project>[^/]+)/)?"
    r"(?:global/images/(?P<family>family/)?|zones/[^/]+/imageFamilyViews/(?P<view>))(?P<name>[^/]+)"
)
_ARM = re.compile(r"(^|-)arm64(-|$)")
_PUBLISHED = "2026-01-20T08:00:00.000-08:00"


def referenced(site: Site, text: str, field: str) -> Resource:
    """The image that a request names by any of the forms of `sourceImage`.

    Raises:
        ApiError: 400 when the form is none of these, or there is no such image.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise invalid_field(field, text, "The URL is malformed.")
    project = match["project"] or site.project
    by_family = match["family"] is not None or match["view"] is not None
    image = (from_family if by_family else named)(site, project, match["name"])
    if image is None:
        raise invalid_field(field, text, "The referenced image resource cannot be found.")
    return image


def named(site: Site, project: str, name: str) -> Resource | None:
    """The image of this name; None where there is none."""
    own = site.things["images"].get(home(site, project), name)
    if own or project == site.project:
        return own
    public = site.catalog.public_images.get(project)
    return _public(site, project, public, name) if public and _is_image(public, name) else None


def from_family(site: Site, project: str, family: str) -> Resource | None:
    """The newest image of a family; None where there is none. Deprecated ones do not count."""
    members = [
        image
        for image in site.things["images"].all(home(site, project))
        if image.get("family") == family and not image.get("deprecated")
    ]
    if members or project == site.project:
        return max(members, key=lambda image: int(image["id"]), default=None)
    public = site.catalog.public_images.get(project)
    if public is None or not (family in public.families or re.fullmatch(public.accepts, family)):
        return None
    return _public(site, project, public, _newest(public, family), family)


def home(site: Site, project: str) -> str:
    """The scope in which the images of a project stand; ours are the ones that the API lists."""
    return "global" if project == site.project else f"projects/{project}"


def public_images(site: Site, project: str) -> Iterator[Resource]:
    """The images that a list of a public project shows.

    Raises:
        ApiError: 404 when there is no such project.
    """
    public = site.catalog.public_images.get(project)
    if public is None:
        raise not_found(f"projects/{project}")
    for family in public.families:
        yield _public(site, project, public, _newest(public, family), family)


def _is_image(public: PublicImages, name: str) -> bool:
    """Whether there is, or was, such an image; what we show as the newest of a family always is."""
    family = "|".join([*map(re.escape, public.families), public.accepts])
    newest = re.escape(public.image).replace("NAME", f"(?:{family})")
    return re.fullmatch(f"{newest}|{public.accepts}", name) is not None


def _newest(public: PublicImages, family: str) -> str:
    return public.image.replace("NAME", family)


def _public(site: Site, project: str, public: PublicImages, name: str, family: str = "") -> Resource:
    image: Resource = shared(
        {
            "kind": "compute#image",
            "id": str(10**18 + zlib.crc32(f"{project}/{name}".encode())),
            "creationTimestamp": _PUBLISHED,
            "name": name,
            "description": f"{family or name}, as the local cloud knows it: there is nothing on it",
            "sourceType": "RAW",
            "status": "READY",
            "archiveSizeBytes": "1000000000",
            "diskSizeGb": str(public.gb),
            "licenses": [site.links.link(f"global/licenses/{family or name}", project=project)],
            **({"family": family} if family else {}),
            "selfLink": site.links.link(f"global/images/{name}", project=project),
            "guestOsFeatures": [
                {"type": "UEFI_COMPATIBLE"},
                {"type": "VIRTIO_SCSI_MULTIQUEUE"},
                {"type": "GVNIC"},
            ],
            "architecture": "ARM64" if _ARM.search(name) else "X86_64",
            "storageLocations": ["us"],
            "labelFingerprint": "42WmSpB8rSM=",
        }
    )
    return image
