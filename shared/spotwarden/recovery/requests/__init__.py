"""Create requests as recovery sends them, what they make, and what a refusal means."""
