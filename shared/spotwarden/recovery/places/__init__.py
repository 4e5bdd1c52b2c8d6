"""Which place is asked next: what is remembered and expected of places, deadlines and moves."""
