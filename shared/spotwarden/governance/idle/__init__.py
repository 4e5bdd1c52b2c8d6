"""VMs all of whose GPUs idle."""
