"""A stored create script → the requests that gcloud would send, as data; pure."""
