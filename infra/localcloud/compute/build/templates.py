"""Instance templates and machine images, as the base of a new instance."""

from collections.abc import Mapping
from typing import Any

from localcloud.compute.refusals import not_found
from localcloud.compute.site import Site


def template(site: Site, text: str, field: str) -> Mapping[str, Any]:
    """The properties that an instance template gives.

    Raises:
        ApiError: 404 when there is no such template.
    """
    return _properties(site, text, field, "instanceTemplates", "properties")


def machine_image(site: Site, text: str) -> Mapping[str, Any]:
    """The properties that a machine image gives.

    Raises:
        ApiError: 404 when there is no such machine image.
    """
    return _properties(site, text, "resource.sourceMachineImage", "machineImages", "instanceProperties")


def _properties(site: Site, text: str, field: str, collection: str, key: str) -> Mapping[str, Any]:
    reference = site.links.read(text, field=field, collection=collection, scope="global")
    resource = site.things[collection].get(reference.scope, reference.name)
    if resource is None or reference.project != site.project:
        raise not_found(reference.path)
    properties: Mapping[str, Any] = resource.get(key, {})
    return properties
