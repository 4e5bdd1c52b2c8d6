"""bash text → the commands that bash would run, computed without running anything."""
