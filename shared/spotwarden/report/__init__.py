"""The report: what it is made of is read, kept and served here."""
