"""Commands that look and change nothing: jobs, their logs, outputs and differences."""
