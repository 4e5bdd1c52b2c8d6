"""Disks, addresses and snapshots of jobs that are over."""
