#!/bin/bash
sed -i 's/@RUN@/r1/' boot.sh
gcloud compute instances create edited --zone=us-central1-a --metadata-from-file=startup-script=boot.sh
