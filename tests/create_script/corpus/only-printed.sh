#!/bin/bash
run() { echo "+ $*"; [ "${DRY:-1}" = 1 ] || "$@"; }
run gcloud compute instances create printed --zone=us-central1-a
cat <<EOT
gcloud compute instances create text --zone=us-central1-a
EOT
