"""`create-with-container`: the declaration of the container that the machine starts."""

from typing import Any

from spotwarden.create_script.gcloud import disks
from spotwarden.create_script.gcloud.images import boot_image
from spotwarden.create_script.gcloud.instance import Shared, common, params_of
from spotwarden.create_script.gcloud.links import ResourceLink
from spotwarden.create_script.gcloud.metadata import metadata
from spotwarden.create_script.gcloud.mounts import mounted_disks
from spotwarden.create_script.gcloud.scene import GcloudScene, compact
from spotwarden.create_script.gcloud.values import Misfit
from spotwarden.create_script.gcloud.yamls import dump
from spotwarden.model.gcloud import NEWEST, OLDEST

_RESTART = {"always": "Always", "never": "Never", "on-failure": "OnFailure"}
_FORBIDDEN_KEYS = ("gci-ensure-gke-docker", "google-container-manifest")
# gcloud's own words; they are part of the value that it sends.
_HEADS = {
    OLDEST: """\
# DISCLAIMER:
# This container declaration format is not a public API and may change without
# notice. Please use gcloud command-line tool or Google Cloud Console to run
# Containers on Google Compute Engine.

""",
    NEWEST: """\
# DISCLAIMER:
# The option to deploy a container during VM creation using the container
# startup agent is deprecated. Use alternative services to run containers on
# your VMs. Learn more at https://cloud.google.com/compute/docs/containers/migrate-containers.

""",
}


def check(scene: GcloudScene) -> None:
    """Raise `Refused` for what gcloud refuses for containers only."""
    args = scene.args
    if args.given("source-instance-template") and scene.track == "v1":
        raise args.refusal("source-instance-template", "makes gcloud 528 fail with containers; leave it out")
    if not args.given("container-image"):
        raise args.refusal("container-image", "is missing; name the container's image")
    if (args["machine-type"] or "").startswith("t2a"):
        raise args.refusal(
            "machine-type", "T2A machines can't run containers this way; choose another machine type"
        )
    if any(disk.get("boot") for disk in args["disk"] or []):
        raise args.refusal("disk", "can't have boot=yes with a container: its boot disk comes from an image")
    for flag in ("metadata", "metadata-from-file"):
        for key in _FORBIDDEN_KEYS:
            if key in (args[flag] or {}):
                raise args.refusal(flag, f"the key {key!r} is reserved for containers")


def container_image(scene: GcloudScene) -> ResourceLink:
    """Give the image of the boot disk; it must be named, since gcloud would look up the newest one."""
    if not scene.args.given("image", "image-family", "image-project"):
        reason = (
            "gcloud would look up the newest image of cos-cloud; name one, as in --image-family=cos-stable"
        )
        raise scene.args.refusal("container-image", f"{reason} --image-project=cos-cloud")
    return boot_image(scene)


def container_instance(scene: GcloudScene, name: str, shared: Shared) -> dict[str, Any]:
    """Give the body that creates the machine of this name with its container."""
    mounts = mounted_disks(scene)
    declared = {
        "gce-container-declaration": _declaration(scene, name, mounts),
        "google-logging-enabled": "true",
    }
    labels = (scene.args["labels"] or {}) | {"container-vm": _label(shared.image)}
    # Disks first: a URL in them may move the names behind it to another version of the API.
    built = disks.disks(scene, name, shared.image)
    return common(scene, shared.network) | compact(
        disks=built,
        labels=dict(sorted(labels.items())),
        metadata=metadata(scene, declared, always=True),
        name=name,
        params=params_of(scene),
    )


def _label(image: ResourceLink | None) -> str:
    return image.parts["name"].replace("/", "-") if image else ""


def _declaration(scene: GcloudScene, name: str, mounts: list[dict[str, Any]]) -> str:
    volumes, places = _volumes(scene, mounts)
    args = scene.args
    container = compact(
        args=args["container-arg"],
        command=None if args["container-command"] is None else [args["container-command"]],
        env=[{"name": key, "value": value} for key, value in _environment(scene).items()] or None,
        image=args["container-image"],
        name=name,
        securityContext={"privileged": args["container-privileged"]},
        stdin=args["container-stdin"],
        tty=args["container-tty"],
        volumeMounts=places,
    )
    restart = _RESTART[args["container-restart-policy"]]
    spec = {"containers": [container], "restartPolicy": restart, "volumes": volumes}
    return _HEADS[scene.version] + dump({"spec": spec})


def _environment(scene: GcloudScene) -> dict[str, Any]:
    """Give the variables of the file, then those of the flags; a later value takes the earlier place."""
    found: dict[str, Any] = {}
    path = scene.args["container-env-file"]
    if path:
        with scene.blame("container-env-file"):
            lines = scene.text("container-env-file", path).split("\n")
            found.update(
                _variable(line.strip(), number) for number, line in enumerate(lines) if _counts(line.strip())
            )
    for variables in scene.args["container-env"] or []:
        found.update(variables)
    return found


def _counts(line: str) -> bool:
    return len(line) > 1 and not line.startswith("#")


def _variable(line: str, number: int) -> tuple[str, str]:
    name, equals, value = line.partition("=")
    if not equals or " " in name or "\t" in name:
        raise Misfit(f"line {number + 1} of the file is not of the form NAME=VALUE")
    return name, value


def _volumes(
    scene: GcloudScene, mounts: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Give the volumes, and where the container sees them."""
    volumes: list[dict[str, Any]] = []
    places: list[dict[str, Any]] = []
    for number, mount in enumerate(scene.args["container-mount-host-path"] or []):
        name = f"host-path-{number}"
        volumes.append({"name": name, "hostPath": {"path": _part(scene, "host-path", mount, "host-path")}})
        places.append(_place(scene, name, mount, "host-path"))
    for number, mount in enumerate(scene.args["container-mount-tmpfs"] or []):
        name = f"tmpfs-{number}"
        volumes.append({"name": name, "emptyDir": {"medium": "Memory"}})
        places.append({"name": name, "mountPath": _part(scene, "tmpfs", mount, "mount-path")})
    _add_disks(scene, mounts, volumes, places)
    return volumes, places


def _part(scene: GcloudScene, kind: str, mount: dict[str, Any], key: str) -> str:
    if key not in mount:
        raise scene.args.refusal(f"container-mount-{kind}", f"needs the key {key}")
    return str(mount[key])


def _place(scene: GcloudScene, name: str, mount: dict[str, Any], kind: str) -> dict[str, Any]:
    path = _part(scene, kind, mount, "mount-path")
    return {"name": name, "mountPath": path, "readOnly": mount.get("mode") == "ro"}


def _add_disks(
    scene: GcloudScene,
    mounts: list[dict[str, Any]],
    volumes: list[dict[str, Any]],
    places: list[dict[str, Any]],
) -> None:
    known: dict[tuple[str, Any], str] = {}
    for mount in mounts:
        key = (mount["name"], mount.get("partition"))
        if key not in known:
            known[key] = f"pd-{len(known)}"
            disk = {"pdName": mount["name"], "fsType": "ext4"}
            if mount.get("partition"):
                disk["partition"] = mount["partition"]
            volumes.append({"name": known[key], "gcePersistentDisk": disk})
        places.append(_place(scene, known[key], mount, "disk"))
