"""Commands that act on what there is: jobs, cases, notices, markers put aside."""
