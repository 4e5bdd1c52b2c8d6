"""The demonstration of the hand-over: one training, three VMs lost, and no step."""
