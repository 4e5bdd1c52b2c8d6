"""What is known of VMs and jobs before any rule judges them."""
