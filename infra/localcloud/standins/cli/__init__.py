"""The `gcloud` stand-in: a table of commands, read as gcloud reads them."""
