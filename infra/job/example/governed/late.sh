#!/bin/bash
# Waits until somebody says that the data are there, then trains.
META="http://metadata.google.internal/computeMetadata/v1/instance"
until [ "$(curl -sf -H "Metadata-Flavor: Google" "$META/attributes/DATA")" = ready ]; do
  echo "waiting for the data"
  sleep 1
done
python3 - <<'TRAINING'
import time

for step in range(1_000_000):
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    if step % 10 == 0:
        print(f"step {step}", flush=True)
    time.sleep(0.25)
TRAINING
