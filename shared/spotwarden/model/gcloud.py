"""The versions of gcloud as which create scripts are read, oldest first."""

OLDEST, NEWEST = 528, 578
VERSIONS = (OLDEST, NEWEST)
