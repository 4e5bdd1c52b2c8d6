"""Sweeps of governance: what each rule looks at, the life of its cases, what is kept of what was seen."""
