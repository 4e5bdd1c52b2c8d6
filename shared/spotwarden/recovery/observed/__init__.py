"""What Compute Engine and its operation log show of instances: taken, ended, or asked for."""
