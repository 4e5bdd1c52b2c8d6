"""The XML API of Cloud Storage: what signed URLs and transfers in parts call."""

from localcloud.storage.xmlapi.paths import XmlPaths

__all__ = ["XmlPaths"]
