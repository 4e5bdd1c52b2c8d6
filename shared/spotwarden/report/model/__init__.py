"""The nouns of the report."""
