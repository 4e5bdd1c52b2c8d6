# --- What this VM is, and what it was told to do: attributes of its metadata. ---

BUCKET="" PREFIX="" JOB="" NODE="" VM="" ID="" ZONE=""
ATTRIBUTES="bucket prefix job command attempt code inputs env setup metrics container container-flags heartbeat sync
  keep-vm rank early notice reserve checkpoint grace folder upload-timeout engine-wait
  transport joins topology node"

read_settings() {
  local one paths=(instance/name instance/id instance/zone instance/machine-type instance/attributes/tpu-env)
  for one in $ATTRIBUTES; do
    paths+=("instance/attributes/spotwarden-$one")
  done
  for one in NODES MASTER_ADDR MASTER_PORT; do
    paths+=("instance/attributes/$one")
  done
  rm -rf "$STATE/metadata"
  ask_all "$STATE/metadata" "${paths[@]}" || return 2
  recall_settings || return 2
}

# The settings as they were read at boot.
recall_settings() {
  value name && VM=$REPLY
  # A VM that takes over from another one in its zone has a name of its own.
  value spotwarden-node
  NODE=${REPLY:-$VM}
  value id && ID=$REPLY
  value zone && ZONE=${REPLY##*/}
  setting bucket && BUCKET=${REPLY#gs://} && BUCKET=${BUCKET%/}
  setting prefix && PREFIX=$REPLY
  setting job
  JOB=${REPLY:-$NODE}
  HERE=$PREFIX$JOB REGISTRATION=$PREFIX$JOB/metadata/$NODE-instance-id
  [ -n "$NODE" ] && [ -n "$ID" ]
}

# A value in REPLY; "" where it is not set.
value() {
  REPLY=""
  [ -e "$STATE/metadata/$1" ] || return 0
  IFS= read -r -d '' REPLY <"$STATE/metadata/$1"
  REPLY=${REPLY%$'\n'}
}

setting() { value "spotwarden-$1"; }

# A setting that is a whole number, or else this one.
number() {
  setting "$1"
  [[ $REPLY =~ ^[0-9]{1,9}$ ]] || REPLY=$2
  REPLY=$((10#$REPLY))
}
