"""The only door to Google: adapters behind the ports."""
