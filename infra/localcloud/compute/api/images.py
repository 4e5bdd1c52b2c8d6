"""Getting and listing images, of this project and of the public ones."""

from collections.abc import Mapping
from typing import Any

from starlette.routing import BaseRoute

from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.api.collections import Shown, by_name, list_in_scope
from localcloud.compute.build import images
from localcloud.compute.refusals import not_found
from localcloud.compute.shelf import Resource, Row, Rows
from localcloud.compute.site import Site


def image_routes(site: Site) -> list[BaseRoute]:
    """The routes; the project of the path may be any that has public images."""
    base = "projects/{project}/global/images"
    view = "projects/{project}/zones/{zone}/imageFamilyViews/{family}"
    return [
        route(site, "GET", base, _listed, any_project=True),
        route(site, "GET", f"{base}/family/{{family}}", _from_family, any_project=True),
        route(site, "GET", f"{base}/{{image}}", _get, any_project=True),
        route(site, "GET", view, _family_view, any_project=True),
    ]


def _project(call: Call) -> str:
    own = call.project in (call.site.project, call.site.project_number)
    return call.site.project if own else call.project


async def _get(call: Call) -> Answer:
    name = call.part("image")
    return _found(call, images.named(call.site, _project(call), name), f"global/images/{name}")


async def _from_family(call: Call) -> Answer:
    family = call.part("family")
    return _found(
        call, images.from_family(call.site, _project(call), family), f"global/images/family/{family}"
    )


async def _family_view(call: Call) -> Answer:
    family = call.part("family")
    path = f"zones/{call.part('zone')}/imageFamilyViews/{family}"
    return {"image": _found(call, images.from_family(call.site, _project(call), family), path)}


def _found(call: Call, image: Resource | None, path: str) -> Mapping[str, Any]:
    if image is None:
        raise not_found(f"projects/{call.project}/{path}")
    return image


async def _listed(call: Call) -> Answer:
    site, project = call.site, _project(call)
    rows = site.things["images"].seen if project == site.project else lambda: _others(site, project)
    shown = Shown(
        name="images",
        kind="compute#image",
        message="Image",
        parameter="image",
        home="global",
        rows=rows,
        get=by_name(site, "images", rows),
    )
    return list_in_scope(call, shown)


def _others(site: Site, project: str) -> Rows:
    added = site.things["images"].all(images.home(site, project))
    found = {image["name"]: image for image in added} or {
        image["name"]: image for image in images.public_images(site, project)
    }
    return {"global": Row(by_name=found, names=sorted(found))}
