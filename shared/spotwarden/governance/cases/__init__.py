"""The life of a case: from suspicion over the warning to the remedy, or to its end."""
