"""A job's own instances: which they are, which of them run, and which a person has removed."""
