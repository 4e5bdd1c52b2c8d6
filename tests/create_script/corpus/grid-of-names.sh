#!/bin/bash
gcloud compute instances create {web,db}-{a,b} --zone=us-south1-a --machine-type=e2-micro
for n in {010..030..10} {z..x}; do
  gcloud compute instances create node-$n --zone=us-south1-b
done
