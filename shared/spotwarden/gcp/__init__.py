"""The only door to Google: adapters behind the ports. Importing it imports nothing of Google's."""

from spotwarden.gcp.connect import connect

__all__ = ["connect"]
