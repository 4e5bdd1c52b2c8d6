#!/bin/bash
if true; then
gcloud compute instances create unfinished --zone=us-central1-a
