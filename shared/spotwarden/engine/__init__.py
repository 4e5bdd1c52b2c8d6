"""Around every sweep: settings, trigger, context, executor, audit, metrics, fan-out, policy file."""
