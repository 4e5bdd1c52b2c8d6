"""The demonstration: a preempted training job comes back, told while it happens."""
