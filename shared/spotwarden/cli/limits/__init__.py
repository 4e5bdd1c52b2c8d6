"""Commands about the limits that a team agreed on: reading them, and trying other ones."""
