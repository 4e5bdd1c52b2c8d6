"""A replay of spot traces against rules that choose where and how a job runs."""
