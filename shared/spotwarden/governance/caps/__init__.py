"""Caps on jobs, VMs and owners."""
