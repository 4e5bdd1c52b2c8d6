source lib/vars.env
create_box() {
  local n=$1; shift
  gcloud compute instances create "$n" --zone="$ZONE" --labels=env=$STAGE "$@"
}
STAGE=$1
