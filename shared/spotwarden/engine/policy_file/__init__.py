"""The policy file: read whole, or refused with every fault of it."""
