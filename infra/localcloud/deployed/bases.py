"""Where the paths of APIs begin that have a host of their own on Google Cloud."""

from collections.abc import Mapping

BASES: Mapping[str, str] = {
    "cloudfunctions": "cloudfunctions/",
    "run": "run/",
    "secretmanager": "secretmanager/",
    "serviceusage": "serviceusage/",
}
"""By API: where its paths begin."""
