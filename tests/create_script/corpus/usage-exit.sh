#!/bin/bash
if [ $# -lt 1 ]; then echo "usage: $0 NAME" >&2; exit 1; fi
gcloud compute instances create "$1" --zone=us-central1-a
