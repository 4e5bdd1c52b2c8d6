#!/bin/bash
echo "shutdown -h now" >> boot.sh
gcloud compute instances create appended --zone=us-central1-a --metadata-from-file=startup-script=boot.sh
