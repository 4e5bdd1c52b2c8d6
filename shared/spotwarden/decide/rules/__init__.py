"""What each rule of governance finds, and whose word sets its limits."""
