"""Whether a job will end, when, and for how much: from its own pace and from what its places do."""
