"""VMs whose job is over, gone, or goes on without them."""
