#!/bin/bash
gcloud compute instances create "child-$1" --zone=us-central1-a
