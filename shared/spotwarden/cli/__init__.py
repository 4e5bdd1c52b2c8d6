"""`spotwarden`: what a developer types."""
