#!/bin/bash
cd conf; pushd deep >/dev/null; popd >/dev/null
cd - >/dev/null
gcloud compute instances create came-from --zone=us-central1-a --metadata-from-file=user-data=x.yaml
