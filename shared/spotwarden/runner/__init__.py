"""Around every sweep: settings, trigger, apply, audit, log."""
