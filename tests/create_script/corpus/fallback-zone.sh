#!/bin/bash
gcloud compute instances create scarce --zone=us-central1-a || gcloud compute instances create scarce --zone=us-central1-b
