#!/bin/bash
# One step, which is told by a heartbeat, and then it asks for ever whether the others have come: busy, and of no use.
# That it reports its steps, and as which VM, is what tells it from a program that works for hours without a word.
META="http://metadata.google.internal/computeMetadata/v1/instance"
ID=$(curl -sf -H "Metadata-Flavor: Google" "$META/id")
echo "step 1, loss 0.69"
echo '{"step": 1, "steps": 80, "instance_id": "'"$ID"'"}' | gsutil -q cp - "gs://demo-jobs/hang/metadata/heartbeat/hang"
python3 - <<'TRAIN'
import time

while True:
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    time.sleep(0.25)
TRAIN
