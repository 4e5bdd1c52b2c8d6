"""Access control lists of buckets and objects: kept and told, not enforced, as IAM policies are not."""
