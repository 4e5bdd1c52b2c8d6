#!/bin/bash
n=0
while read -r line || [ -n "$line" ]; do
  n=$((n+1))
  gcloud compute instances create "q-$n" --zone=us-central1-a --metadata="task=$line"
done < tasks.txt
