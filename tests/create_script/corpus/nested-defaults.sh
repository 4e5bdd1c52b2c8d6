#!/bin/bash
: "${REGION:=us-central1}" "${LETTER:=${2:-${FALLBACK-c}}}"
VERBOSE=
gcloud compute instances create nd ${VERBOSE:+--verbosity=debug} ${VERBOSE+--quiet} --zone="${REGION}-${LETTER}" "${@:3}" ${TAGS:---tags=none}
