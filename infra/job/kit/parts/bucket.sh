# --- The bucket: curl against the JSON API where there is a curl, else gcloud, else gsutil. ---

TOKEN_UNTIL=0
# Seconds without a byte until a transfer is given up. One that goes on may take as long as it needs.
STALLED=120

open_bucket() {
  local one
  API=${STORAGE_EMULATOR_HOST:-https://storage.googleapis.com}
  [[ $API == *://* ]] || API=http://$API
  setting transport
  TRANSPORT=$REPLY
  for one in curl gcloud gsutil; do
    [ -z "$TRANSPORT" ] && command -v "$one" >/dev/null && TRANSPORT=$one
  done
  [ -n "$TRANSPORT" ] || say "this image has no curl, gcloud or gsutil, so the bucket can't be reached; install one of them"
}

# A token of the VM's service account, in a file: what stands in a command line can be seen by everybody.
authorize() {
  local file=$STATE/token.$BASHPID lasts
  now
  [ "$REPLY" -ge "$TOKEN_UNTIL" ] && [ -s "$STATE/token-until" ] && read -r TOKEN_UNTIL <"$STATE/token-until"
  [ "$REPLY" -lt "$TOKEN_UNTIL" ] && return
  if ask instance/service-accounts/default/token && [[ $REPLY =~ \"access_token\":\ *\"([^\"]+)\" ]]; then
    (umask 077 && printf 'Authorization: Bearer %s\n' "${BASH_REMATCH[1]}" >"$file") &&
      mv -f "$file" "$STATE/token"
    [[ $REPLY =~ \"expires_in\":\ *([0-9]+) ]]
    lasts=${BASH_REMATCH[1]:-600}
    now
    TOKEN_UNTIL=$((REPLY + (lasts > 240 ? lasts - 180 : 60)))
    echo "$TOKEN_UNTIL" >"$STATE/token-until"
  else
    # Not with every request: each may take seconds to fail.
    now
    TOKEN_UNTIL=$((REPLY + 10))
  fi
  # An old token may still do; without any the bucket says that it refuses.
  [ -e "$STATE/token" ] || : >"$STATE/token"
}

# One request of curl's, `request SECONDS WORD…`. Its status is in STATUS, 000 where nobody answered, or not to the end.
# With `exec` bash does not fork once more for what it only waits for: a heartbeat makes a dozen processes.
request() {
  local seconds=$1
  shift
  authorize
  STATUS=$(
    exec curl -s -g --connect-timeout 5 -m "$seconds" -Y 1 -y "$STALLED" -w '%{http_code}' \
      -H @"$STATE/token" -H 'Expect:' "$@" 2>/dev/null
  ) || cut_short $?
  understood
}

# Curl has failed: an answer that was begun with 200 and is cut in the middle is none. Curl says 23 where it cannot write
# what it gets, which does not become better by asking again.
cut_short() {
  [[ $STATUS != 2?? ]] || STATUS=000
  [ "$1" != 23 ] || STATUS=unwritable
}

# What a status means, in the words of `patiently`.
understood() {
  case $STATUS in
    2??) return 0 ;;
    404) return 1 ;;
    412) return 3 ;;
    401)
      TOKEN_UNTIL=0
      rm -f "$STATE/token-until"
      return 2
      ;;
    000 | "" | 408 | 429 | 5??) return 2 ;;
    *) return 4 ;;
  esac
}

# The same for what gcloud and gsutil say.
told() {
  local said=$1
  # The names in it are the developer's, and say nothing: a job may be called exp-412.
  while [[ $said =~ (gs://|/)[^[:space:]]+ ]]; do
    said=${said//"${BASH_REMATCH[0]}"/}
  done
  case $said in
    *"command not found"*) return 2 ;;
    *"matched no objects"* | *"No URLs matched"* | *"not found"* | *" 404"*) return 1 ;;
    *" 412"* | *"recondition"*) return 3 ;;
    *" 403"* | *"ccess denied"* | *"does not have storage."* | *"permission for"*) return 4 ;;
    *) return 2 ;;
  esac
}

content_type() {
  case $1 in
    *.json | *.jsonl | preempted-jobs/*) REPLY=application/json ;;
    *.log | *.txt | *status-code | *-instance-id) REPLY='text/plain; charset=utf-8' ;;
    *) REPLY=application/octet-stream ;;
  esac
}

# Where an object of this name is uploaded to.
upload_url() {
  encoded "$1"
  REPLY="$API/upload/storage/v1/b/$BUCKET/o?uploadType=${3:-media}&name=$REPLY${2:+&ifGenerationMatch=$2}"
}

# put FILE NAME [GENERATION [SECONDS [KEY=VALUE…]]]: only over this generation where one is given; 0 means that there is none
# yet. The rest is custom metadata of the object.
put() {
  local file=$1 name=$2 generation=${3:-} seconds=${4:-86400} said type
  if [ "$#" -gt 4 ]; then
    put_described "$@"
    return
  fi
  case $TRANSPORT in
    curl)
      content_type "$name"
      type=$REPLY
      upload_url "$name" "$generation"
      request "$seconds" -X POST -T "$file" -H "Content-Type: $type" -o /dev/null "$REPLY"
      ;;
    gcloud)
      said=$(timeout "$seconds" gcloud storage cp ${generation:+"--if-generation-match=$generation"} \
        "$file" "gs://$BUCKET/$name" 2>&1) || told "$said"
      ;;
    gsutil)
      said=$(timeout "$seconds" gsutil ${generation:+-h "x-goog-if-generation-match:$generation"} -q cp \
        "$file" "gs://$BUCKET/$name" 2>&1) || told "$said"
      ;;
    *) return 2 ;;
  esac
}

# The same with custom metadata, for a small file.
put_described() {
  local file=$1 name=$2 generation=$3 seconds=$4 said pair headers=() text="" mark=@$RANDOM$RANDOM@
  shift 4
  case $TRANSPORT in
    curl)
      multipart "$file" "$name" "$@"
      upload_url "$name" "$generation" multipart
      request "$seconds" -X POST --data-binary @"$STATE/parts.$BASHPID" -o /dev/null \
        -H "Content-Type: multipart/related; boundary=$BOUNDARY" "$REPLY"
      ;;
    gcloud)
      # Values have commas, so something else is between them (gcloud topic escaping).
      for pair in "$@"; do text+=$mark$pair; done
      said=$(timeout "$seconds" gcloud storage cp ${generation:+"--if-generation-match=$generation"} \
        "--custom-metadata=^$mark^${text#"$mark"}" "$file" "gs://$BUCKET/$name" 2>&1) || told "$said"
      ;;
    gsutil)
      # Where gsutil hands its work to gcloud, a comma ends a value, and of several headers only the last counts.
      for pair in "$@"; do
        [[ $pair == *,* ]] || headers+=(-h "x-goog-meta-${pair%%=*}:${pair#*=}")
      done
      said=$(timeout "$seconds" gsutil ${generation:+-h "x-goog-if-generation-match:$generation"} ${headers[@]+"${headers[@]}"} -q cp \
        "$file" "gs://$BUCKET/$name" 2>&1) || told "$said"
      ;;
    *) return 2 ;;
  esac
}

# The body of an upload with metadata (Google: "Upload objects from a file system", multipart), in a file of its own; its
# parts are told apart by BOUNDARY.
multipart() {
  local file=$1 pair made="" type
  content_type "$2"
  type=$REPLY
  shift 2
  for pair in "$@"; do
    json_text "${pair#*=}"
    made+=",\"${pair%%=*}\":\"$REPLY\""
  done
  BOUNDARY=spotwarden-$RANDOM$RANDOM$RANDOM$RANDOM
  {
    printf -- '--%s\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{"metadata":{%s}}\r\n' "$BOUNDARY" "${made:1}"
    printf -- '--%s\r\nContent-Type: %s\r\n\r\n' "$BOUNDARY" "$type"
    [ ! -s "$file" ] || cat "$file"
    printf -- '\r\n--%s--\r\n' "$BOUNDARY"
  } >"$STATE/parts.$BASHPID"
}

# describe NAME FILE [SECONDS]: what is told of an object beside its content, as JSON, or as gsutil prints it.
describe() {
  local name=$1 file=$2 seconds=${3:-86400} said
  case $TRANSPORT in
    curl)
      encoded "$name"
      request "$seconds" -o "$file" "$API/storage/v1/b/$BUCKET/o/$REPLY?fields=generation,metadata"
      ;;
    gcloud)
      said=$(timeout "$seconds" gcloud storage objects describe --raw --format=json "gs://$BUCKET/$name" 2>&1) || told "$said" || return
      printf '%s\n' "$said" >"$file"
      ;;
    gsutil)
      said=$(timeout "$seconds" gsutil stat "gs://$BUCKET/$name" 2>&1) || told "$said" || return
      printf '%s\n' "$said" >"$file"
      ;;
    *) return 2 ;;
  esac
}

# The number of this key in what `describe` has found; fails where there is none.
described() {
  [[ $(<"$1") =~ (^|[^A-Za-z_-])$2\"?:[[:space:]]*\"?([0-9]+) ]] && REPLY=${BASH_REMATCH[2]}
}

# get NAME FILE [SECONDS]: the file is there as a whole or not at all.
get() {
  local name=$1 file=$2 seconds=${3:-86400} said answer=0
  case $TRANSPORT in
    curl)
      encoded "$name"
      request "$seconds" -f -o "$file.part" "$API/storage/v1/b/$BUCKET/o/$REPLY?alt=media" || answer=$?
      ;;
    gcloud) said=$(timeout "$seconds" gcloud storage cp "gs://$BUCKET/$name" "$file.part" 2>&1) || told "$said" || answer=$? ;;
    gsutil) said=$(timeout "$seconds" gsutil -q cp "gs://$BUCKET/$name" "$file.part" 2>&1) || told "$said" || answer=$? ;;
    *) answer=2 ;;
  esac
  [ "$answer" = 0 ] && mv -f "$file.part" "$file" && return
  [ ! -e "$file.part" ] || rm -f "$file.part"
  return $((answer ? answer : 2))
}

# list PREFIX FILE: a line with size and name of each object, a tab between them.
list() {
  local said line answer=0
  : >"$2"
  case $TRANSPORT in
    curl) list_by_pages "$1" "$2" || return ;;
    gcloud) said=$(gcloud storage ls -l "gs://$BUCKET/$1**" 2>&1) || told "$said" || answer=$? ;;
    gsutil) said=$(gsutil ls -l "gs://$BUCKET/$1**" 2>&1) || told "$said" || answer=$? ;;
    *) return 2 ;;
  esac
  [ "$answer" -le 1 ] || return "$answer"
  while IFS= read -r line; do
    [[ $line =~ ^\ *([0-9]+)\ +[^\ ]+\ +gs://[^/]+/(.*)$ ]] && printf '%s\t%s\n' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
  done <<<"${said:-}" >>"$2"
  return 0
}

list_by_pages() {
  local prefix page=$STATE/page.$BASHPID fields='items(name,size),nextPageToken'
  encoded "$1"
  prefix=$REPLY
  PAGE_TOKEN=""
  while true; do
    encoded "$PAGE_TOKEN"
    request 120 -o "$page" "$API/storage/v1/b/$BUCKET/o?fields=$fields&prefix=$prefix${REPLY:+&pageToken=$REPLY}" ||
      return
    read_page "$page" >>"$2"
    [ -n "$PAGE_TOKEN" ] || break
  done
}

# The objects of one page of JSON; each string of it is one word for grep, whatever it holds. Sets PAGE_TOKEN.
read_page() {
  local word last="" key="" name="" size=""
  PAGE_TOKEN=""
  while IFS= read -r word; do
    if [ "$last" = : ]; then
      from_json "$word"
      case $key in
        '"name"') name=$REPLY ;;
        '"size"') size=$REPLY ;;
        '"nextPageToken"') PAGE_TOKEN=$REPLY ;;
      esac
    elif [ "$word" = : ]; then
      key=$last
    elif [ "$word" = "}" ] && [ -n "$name" ]; then
      # Google has no such name; here it would be two lines.
      [[ $name == *[$'\n\r']* ]] || printf '%s\t%s\n' "${size:-0}" "$name"
      name="" size=""
    fi
    last=$word
  done < <(LC_ALL=C grep -oE '"([^"\\]|\\.)*"|[][{}:,]' "$1")
}
