"""What the report is made of: a job's records → its timeline and its figures; all jobs' → the fleet's."""
