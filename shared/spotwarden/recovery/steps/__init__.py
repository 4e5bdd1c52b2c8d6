"""The steps of an attempt: judged, claimed, asked for, finished, ended; each written before the next."""
