#!/bin/bash
names=(lead w1 w2) types=(n2-standard-8 e2-small) 
for i in "${!names[@]}"; do
  gcloud compute instances create "${names[i]}" --zone=us-central1-a --machine-type="${types[$((i > 0))]}" --metadata=index=$i,prev=${names[i-1]}
done
