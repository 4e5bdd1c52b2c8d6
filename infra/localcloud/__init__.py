"""The local cloud: Google's APIs on loopback, with virtual machines that are process groups."""
