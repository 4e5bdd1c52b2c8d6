#!/bin/bash
gcloud compute instances create cut --zone=us-central1-a --metadata=startup-script='echo one, two'
