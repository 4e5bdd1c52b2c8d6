#!/bin/bash
# One node of a job: does its shard of the work, from its last checkpoint on. The master puts the shards together.
META="http://metadata.google.internal/computeMetadata/v1/instance"
ask() { curl -sf -H "Metadata-Flavor: Google" "$META/$1"; }

NODE=$(ask name) MASTER=$(ask attributes/MASTER_ADDR)
HERE="gs://demo-jobs/$(ask attributes/JOB)"
ENDED="$HERE/metadata/status-code"

mkdir -p work/output && cd work || exit
gsutil -q cp "$HERE/my-code.tar" . && tar -xf my-code.tar
gsutil -q rsync -r "$HERE/output" output

ATTEMPT=$(ask attributes/spotwarden-attempt || echo 1)
python3 shard.py --attempt "$ATTEMPT" --node "$NODE" --nodes "$(ask attributes/NODES)" --master "$MASTER" \
  --bucket "$HERE/output"
STATUS=$?

# The master's status is the job's, and a node that fails ends the job as well; the others stay until it is there.
if [ "$NODE" = "$MASTER" ] || [ "$STATUS" != 0 ]; then
  echo "$STATUS" | gsutil -q cp - "$ENDED"
fi
until gsutil -q stat "$ENDED"; do sleep 1; done
gcloud compute instances delete "$NODE" --zone="$(basename "$(ask zone)")" --quiet
