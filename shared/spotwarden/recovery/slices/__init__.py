"""TPU slices: all VMs of one request, as one managed instance group."""
