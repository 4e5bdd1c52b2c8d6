"""What people are told of a job by recovery, and how often."""
