#!/bin/bash
zone_of() { local region=$1; Z="${region}-${2:-b}"; }
launch() {
  local name=$1 region=$2 kind=${3:-e2-medium}
  shift 2
  zone_of "$region"
  [ $# -gt 0 ] && shift
  gcloud compute instances create "$name" --zone="$Z" --machine-type="$kind" "$@" || return 1
}
launch alpha us-east5
launch beta europe-north1 e2-small --no-address --tags=b
name=outer
launch gamma us-east5 n2-standard-2 --labels=who=$name
