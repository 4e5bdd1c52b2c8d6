"""Sweeps of recovery: the look at jobs, markers and VMs, and the steps that follow."""
