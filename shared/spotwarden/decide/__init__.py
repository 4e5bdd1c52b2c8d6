"""Pure verdicts: facts and a policy in, actions with reasons out."""
