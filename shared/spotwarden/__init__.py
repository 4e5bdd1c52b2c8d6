"""Spotwarden: preempted training jobs come back, idle GPU machines do not burn money."""
