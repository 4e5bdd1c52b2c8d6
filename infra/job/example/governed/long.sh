#!/bin/bash
# Tries one thing after the other, and would do so for days.
while true; do
  echo "nothing better found yet"
  sleep 2
done
