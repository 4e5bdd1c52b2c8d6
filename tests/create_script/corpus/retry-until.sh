#!/bin/bash
until gcloud compute instances create stubborn --zone=us-central1-a; do sleep 30; done
