#!/bin/bash
gcloud compute instances create homely --zone=us-central1-a --metadata-from-file=ssh-keys="$HOME/.ssh/id.pub"
