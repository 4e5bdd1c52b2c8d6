"""What Spotwarden's reader of create scripts takes from the source of gcloud: a tool, not shipped."""
