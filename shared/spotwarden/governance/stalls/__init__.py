"""Jobs of which nothing moves any more."""
