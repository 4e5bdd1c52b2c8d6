"""Parts of a machine as a script says them against the same as they ran: a sentence for each difference."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotwarden.create_script.request.urls import last, partial

Part = Mapping[str, Any]


def differ(what: str, said: object, ran: object) -> Iterator[str]:
    """The sentence about one value, if it differs."""
    if said != ran:
        yield f"{what}: the script says {said or 'none'}, the instance has {ran or 'none'}"


def texts(what: str, said: Mapping[str, str], ran: Mapping[str, str], *, shown: bool) -> Iterator[str]:
    """The sentences about texts by key; only with `shown` are the values told."""
    for key in sorted({*said, *ran}):
        name = f"the {what} {key}"
        if key not in ran:
            yield f"{name}: it is in the script, and not on the instance"
        elif key not in said:
            yield f"{name}: it is on the instance, and not in the script"
        elif shown:
            yield from differ(name, said[key], ran[key])
        elif said[key] != ran[key]:
            yield f"{name}: its value differs"


def disks(said: Part, ran: Part, known: Mapping[str, Part]) -> Iterator[str]:
    """The sentences about disks, in the order of their attachment; `known` are disk resources by URL."""
    wanted, found = said.get("disks", ()), ran.get("disks", ())
    if len(wanted) != len(found):
        yield from differ("the number of disks", len(wanted), len(found))
        return
    by_path = {partial(link): disk for link, disk in known.items()}
    for number, (item, attached) in enumerate(zip(wanted, found, strict=True)):
        disk = by_path.get(partial(attached.get("source", "")), {})
        yield from _disk(f"disk {number}", item, attached, disk)


def _disk(what: str, said: Part, attached: Part, disk: Part) -> Iterator[str]:
    kinds = said.get("type", "PERSISTENT"), attached.get("type", "PERSISTENT")
    if kinds[0] != kinds[1]:
        yield from differ(f"the kind of {what}", *kinds)
        return
    if "source" in said:
        yield from differ(what, last(said["source"]), last(attached.get("source", "")))
        return
    params = said.get("initializeParams", {})
    size = params.get("diskSizeGb") or said.get("diskSizeGb")
    if size:
        yield from differ(f"the size of {what} in GB", str(size), str(attached.get("diskSizeGb", size)))
    if "type" in disk and "diskType" in params:
        yield from differ(f"the type of {what}", last(params["diskType"]), last(disk["type"]))
    image = params.get("sourceImage", "")
    # What a family stood for at the time is not known.
    if image.rpartition("/")[0].endswith("global/images") and "sourceImage" in disk:
        yield from differ(f"the image of {what}", last(image), last(disk["sourceImage"]))


def cards(said: Part, ran: Part) -> Iterator[str]:
    """The sentences about network interfaces, in their order."""
    wanted, found = said.get("networkInterfaces", ()), ran.get("networkInterfaces", ())
    if len(wanted) != len(found):
        yield from differ("the number of network interfaces", len(wanted), len(found))
        return
    for number, (item, card) in enumerate(zip(wanted, found, strict=True)):
        for field, what in (("network", "network"), ("subnetwork", "subnetwork")):
            if field in item and field in card:
                yield from differ(f"the {what} of interface {number}", last(item[field]), last(card[field]))
