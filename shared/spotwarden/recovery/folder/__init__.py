"""A job's own objects in the bucket: its chain of attempts, heartbeats, status and script, as read."""
