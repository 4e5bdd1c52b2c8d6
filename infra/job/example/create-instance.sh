#!/bin/bash
# One spot VM, one training run. It saves itself when the VM is taken away, and Spotwarden brings it back.
# shellcheck disable=SC2016 # what stands in the startup script is for the VM's own shell
gcloud compute instances create test-vm \
  --zone=us-central1-a \
  --machine-type=g2-standard-4 \
  --image-family=debian-12 \
  --image-project=debian-cloud \
  --service-account=default \
  --scopes=cloud-platform \
  --maintenance-policy=TERMINATE \
  --provisioning-model=SPOT \
  --instance-termination-action=DELETE \
  --metadata-from-file=shutdown-script=shutdown.sh \
  --metadata=startup-script='#!/bin/bash
HERE="gs://demo-jobs/test-vm"
META="http://metadata.google.internal/computeMetadata/v1/instance"
ask() { curl -sf -H "Metadata-Flavor: Google" "$META/$1"; }

mkdir -p work/output && cd work
gsutil -q cp "$HERE/my-code.tar" . && tar -xf my-code.tar
python3 -m pip install --quiet --disable-pip-version-check -r requirements.txt
gsutil -q rsync -r "$HERE/output" output

ATTEMPT=$(ask attributes/spotwarden-attempt || echo 1)
python3 train.py --attempt "$ATTEMPT" --output output --bucket "$HERE/output"
STATUS=$?

gsutil -q rsync -r output "$HERE/output"
echo "$STATUS" | gsutil -q cp - "$HERE/metadata/status-code"
gcloud compute instances delete "$(hostname)" --zone="$(basename "$(ask zone)")" --quiet
'
