#!/bin/bash
# One spot VM whose successor starts before it is taken. Two things make that so: handover in job.toml,
# and a preemption notice of 120 s. The notice is in the template's scheduling (preemptionNoticeDuration), since
# the flag for it is newer than the gcloud whose flags Spotwarden knows.
gcloud compute instances create relay \
  --zone=us-central1-a \
  --source-instance-template=with-notice \
  --machine-type=e2-small \
  --metadata-from-file=startup-script=startup.sh,shutdown-script=shutdown.sh
