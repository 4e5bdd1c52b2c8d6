"""VMs that are not what the policy allows."""
