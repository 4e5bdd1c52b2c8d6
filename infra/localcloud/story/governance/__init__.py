"""The demonstration of governance: who wastes a VM is told, told again, and then it is stopped."""
