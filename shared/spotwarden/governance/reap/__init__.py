"""What `reap_vms` finds: the rules about VMs that no job needs."""
