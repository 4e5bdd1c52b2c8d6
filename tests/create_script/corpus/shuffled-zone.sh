#!/bin/bash
zones=(us-central1-a us-central1-b)
gcloud compute instances create lucky --zone="${zones[RANDOM % 2]}"
