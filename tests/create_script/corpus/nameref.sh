#!/bin/bash
add() { local -n list=$1; shift; list+=("$@"); }
add flags --zone=us-central1-a
add flags --tags=x,y --no-address
gcloud compute instances create referenced "${flags[@]}"
