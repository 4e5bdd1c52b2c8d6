"""The image or snapshot that a disk begins with."""

from spotwarden.create_script.gcloud import defaults
from spotwarden.create_script.gcloud.letters import CREATE
from spotwarden.create_script.gcloud.links import ResourceLink
from spotwarden.create_script.gcloud.machine import confidential_type
from spotwarden.create_script.gcloud.scene import GcloudScene

_FAMILY = "family/"


def boot_image(scene: GcloudScene) -> ResourceLink:
    """Give the image of the boot disk: the one that is named, else the default of the SDK."""
    args = scene.args
    image, family, project = args["image"], args["image-family"], args["image-project"]
    scope = args["image-family-scope"]
    if image or family:
        return _named(
            scene, image, family, project, scope=scope, flags=("image", "image-family", "image-project")
        )
    kind = None if scene.bare else confidential_type(args)
    if kind:
        name, project = defaults.CONFIDENTIAL_IMAGE_FAMILY, defaults.CONFIDENTIAL_IMAGE_PROJECT
        return scene.links.find(_FAMILY + name, "images", project=project)
    return _default(scene, scope)


def _default(scene: GcloudScene, scope: str | None) -> ResourceLink:
    name, project = defaults.IMAGE_FAMILY, defaults.IMAGE_PROJECT
    if scene.command == CREATE and scope != "global":
        return scene.links.find(name, "imageFamilyViews", project=project, zone="-")
    return scene.links.find(_FAMILY + name, "images", project=project)


def disk_image(scene: GcloudScene, disk: dict[str, str]) -> ResourceLink | None:
    """Give the image of a --create-disk; None for an empty disk or one from a snapshot."""
    image, family = disk.get("image"), disk.get("image-family")
    if not image and not family:
        return None
    flags = ("create-disk",) * 3
    return _named(scene, image, family, disk.get("image-project"), scope="global", flags=flags)


def _named(
    scene: GcloudScene,
    image: str | None,
    family: str | None,
    project: str | None,
    *,
    scope: str | None,
    flags: tuple[str, str, str],
) -> ResourceLink:
    owner = scene.link(flags[2], project, "projects").parts["name"] if project else None
    if image:
        link = scene.link(flags[0], image, "images", project=owner or scene.home)
    else:
        link = _family(scene, family or "", owner, scope=scope, flag=flags[1])
    if not owner and link.parts["name"] in defaults.IMAGE_ALIASES:
        reason = f"{link.parts['name']!r} is an old alias that gcloud looks up"
        raise scene.args.refusal(flags[0], f"{reason}; name a family and its project instead")
    return link


def _family(
    scene: GcloudScene, family: str, owner: str | None, *, scope: str | None, flag: str
) -> ResourceLink:
    """Families of Google's public projects are asked for by zone, all others globally."""
    public = owner in defaults.PUBLIC_IMAGE_PROJECTS[scene.version]
    if scene.command == CREATE and (scope or ("zonal" if public else None)) == "zonal":
        return scene.link(flag, family, "imageFamilyViews", project=owner or scene.home, zone="-")
    link = scene.link(flag, family, "images", project=owner or scene.home)
    name = link.parts["name"]
    if name.startswith(_FAMILY):
        return link
    # gcloud makes this one anew, on its own host whatever URL was given.
    return scene.links.find(_FAMILY + name, "images", project=link.parts["project"])


def snapshot(
    scene: GcloudScene, flag: str, name: str | None, region: str | None = None
) -> ResourceLink | None:
    """Give the snapshot that a disk begins with, if one is named."""
    if region is not None and not name:
        raise scene.args.refusal(flag, "also needs the snapshot itself")
    if not name:
        return None
    if region:
        return scene.link(flag, name, "regionSnapshots", project=scene.project, region=region)
    return scene.link(flag, name, "snapshots", project=scene.project)


def instant_snapshot(scene: GcloudScene, flag: str, name: str | None) -> ResourceLink | None:
    """Give the instant snapshot (alpha) that a disk begins with; gcloud takes it by its full path only."""
    return scene.link(flag, name, "instantSnapshots", project=scene.project) if name else None
