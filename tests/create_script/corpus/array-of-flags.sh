#!/usr/bin/env bash
set -euo pipefail
declare -a args=(--zone=us-west4-a "--machine-type=n2-highmem-8")
GPU=""
if [[ -n "$GPU" ]]; then
  args+=(--accelerator="type=$GPU,count=1")
fi
args+=(--description="two words" --no-address)
args+=( "--metadata=note=it's fine" )
for scope in storage-rw logging-write; do scopes="${scopes:+$scopes,}$scope"; done
args+=(--scopes="$scopes")
gcloud compute instances create arrayed "${args[@]}"
echo "created with ${#args[@]} flags"
