"""What another policy would have done: recorded sweeps, judged again."""
