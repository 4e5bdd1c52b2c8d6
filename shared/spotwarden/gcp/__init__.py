"""The only door to Google: adapters behind the ports, opened by `connect` (or `rest_only`)."""
