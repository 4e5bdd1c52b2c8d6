#!/bin/bash
# Tells the job's program and the bucket that this VM is being taken.
# Put together by infra/job/kit/assemble from the parts beside it; docs/job-kit.md says what it does and writes.
# shellcheck disable=SC2034,SC2153

set -u

# --- Text: what is said, and what is made of names and numbers. Functions answer in REPLY: a process costs more. ---

say() { printf 'spotwarden: %s\n' "$*"; }

now() { printf -v REPLY '%(%s)T' -1; }

# An object name as a part of a URL.
encoded() {
  local LC_ALL=C text=$1 one made="" place
  if [[ $text != *[!A-Za-z0-9._~-]* ]]; then
    REPLY=$text
    return
  fi
  for ((place = 0; place < ${#text}; place++)); do
    one=${text:place:1}
    if [[ $one == [!A-Za-z0-9._~-] ]]; then
      printf -v one '%d' "'$one"
      printf -v one '%%%02X' $((one & 255))
    fi
    made+=$one
  done
  REPLY=$made
}

# The path of a file as the name of an object can have it. Cloud Storage takes any UTF-8 but the two ends of lines: those,
# and bytes that are no UTF-8, become %0A, %0D and %80 to %FF; what would read like one of these has its % as %25.
object_path() {
  local LC_ALL=C text=$1 made="" place=0 one code
  REPLY=$text
  [[ $text == *[!A-Za-z0-9_./\ ~=+,:@-]* ]] || return 0
  while [ "$place" -lt "${#text}" ]; do
    one=${text:place:4}
    case $one in
      %0[AD]* | %25* | %[89A-F][0-9A-F]*) one=%25 code=1 ;;
      $'\n'* | $'\r'*) code=0 ;;
      [$'\x01'-$'\x7f']*) one=${one:0:1} code=1 ;;
      [$'\xc2'-$'\xdf'][$'\x80'-$'\xbf']*) one=${one:0:2} code=2 ;;
      $'\xe0'[$'\xa0'-$'\xbf'][$'\x80'-$'\xbf']* | $'\xed'[$'\x80'-$'\x9f'][$'\x80'-$'\xbf']*) one=${one:0:3} code=3 ;;
      [$'\xe1'-$'\xec\xee\xef'][$'\x80'-$'\xbf'][$'\x80'-$'\xbf']*) one=${one:0:3} code=3 ;;
      $'\xf0'[$'\x90'-$'\xbf'][$'\x80'-$'\xbf'][$'\x80'-$'\xbf']) code=4 ;;
      [$'\xf1'-$'\xf3'][$'\x80'-$'\xbf'][$'\x80'-$'\xbf'][$'\x80'-$'\xbf']) code=4 ;;
      $'\xf4'[$'\x80'-$'\x8f'][$'\x80'-$'\xbf'][$'\x80'-$'\xbf']) code=4 ;;
      *) code=0 ;;
    esac
    if [ "$code" = 0 ]; then
      printf -v code '%d' "'${one:0:1}"
      printf -v one '%%%02X' $((code & 255))
      code=1
    fi
    made+=$one place=$((place + code))
  done
  REPLY=$made
}

# The path of the file that an object of this name is; one that `object_path` never makes stands for itself.
file_path() {
  local LC_ALL=C rest=$1 made="" byte
  REPLY=$rest
  [[ $rest == *%* ]] || return 0
  while [[ $rest =~ ^([^%]*)%(0A|0D|25|[89A-F][0-9A-F])(.*)$ || $rest =~ ^([^%]*%)()(.*)$ ]]; do
    made+=${BASH_REMATCH[1]} rest=${BASH_REMATCH[3]}
    [ -z "${BASH_REMATCH[2]}" ] || { printf -v byte '%b' "\\x${BASH_REMATCH[2]}" && made+=$byte; }
  done
  made+=$rest
  object_path "$made"
  if [ "$REPLY" = "$1" ]; then REPLY=$made; else REPLY=$1; fi
}

# A text as JSON has it between quotes; control characters become spaces.
json_text() {
  REPLY=${1//\\/\\\\}
  REPLY=${REPLY//\"/\\\"}
  REPLY=${REPLY//[[:cntrl:]]/ }
}

# The text of a JSON string, given with its quotes.
from_json() {
  REPLY=${1#\"}
  REPLY=${REPLY%\"}
  [[ $REPLY == *\\* ]] || return 0
  # What stands for itself after a backslash, `printf` leaves as it is; what is beyond ASCII it writes in the locale's way.
  local LC_ALL=C rest=$REPLY made="" code low
  while [[ $rest =~ ^([^\\]*)\\(u([0-9a-fA-F]{4})|.)(.*)$ ]]; do
    made+=${BASH_REMATCH[1]} rest=${BASH_REMATCH[4]}
    case ${BASH_REMATCH[2]} in
      [bfnrt]) printf -v low '%b' "\\${BASH_REMATCH[2]}" && made+=$low && continue ;;
      u*) code=$((16#${BASH_REMATCH[3]})) ;;
      *) made+=${BASH_REMATCH[2]} && continue ;;
    esac
    if [ $((code >> 10)) = 54 ] && [[ $rest =~ ^\\u([dD][c-fC-F][0-9a-fA-F]{2})(.*)$ ]]; then
      code=$((65536 + ((code & 1023) << 10) + (16#${BASH_REMATCH[1]} & 1023))) rest=${BASH_REMATCH[2]}
    fi
    utf8 "$code"
    made+=$REPLY
  done
  REPLY=$made$rest
}

# The bytes of a character by its number.
utf8() {
  local code=$1 bytes
  if [ "$code" -lt 128 ]; then
    printf -v bytes '\\x%02x' "$code"
  elif [ "$code" -lt 2048 ]; then
    printf -v bytes '\\x%02x' $((192 | code >> 6)) $((128 | code & 63))
  elif [ "$code" -lt 65536 ]; then
    printf -v bytes '\\x%02x' $((224 | code >> 12)) $((128 | code >> 6 & 63)) $((128 | code & 63))
  else
    printf -v bytes '\\x%02x' $((240 | code >> 18)) $((128 | code >> 12 & 63)) $((128 | code >> 6 & 63)) $((128 | code & 63))
  fi
  printf -v REPLY '%b' "$bytes"
}

# What a program printed as a number, as JSON has it; fails where it is none.
measured() {
  local text=${1,,}
  case $text in
    nan | +nan | -nan) REPLY='"nan"' ;;
    inf | +inf | infinity | +infinity) REPLY='"inf"' ;;
    -inf | -infinity) REPLY='"-inf"' ;;
    *)
      [[ $text =~ ^(-|[+]?)0*([0-9]*)(\.([0-9]*))?(e([-+]?[0-9]+))?$ && $text == *[0-9]* ]] || return 1
      [[ $text == [-+]e* || $text == e* ]] && return 1
      REPLY=${BASH_REMATCH[1]#+}${BASH_REMATCH[2]:-0}${BASH_REMATCH[4]:+.${BASH_REMATCH[4]}}${BASH_REMATCH[5]}
      ;;
  esac
}

# Run a command again and again, with pauses that grow, until it works, says that it never will, or the time is over.
# Commands answer 0 (done), 1 (there is none), 2 (try again), 3 (another one was first), 4 (refused for good).
patiently() {
  local end=$((SECONDS + $1)) pause=1 answer
  shift
  while true; do
    answer=0
    "$@" || answer=$?
    [ "$answer" = 2 ] || return "$answer"
    [ "$((SECONDS + pause))" -le "$end" ] || return 2
    sleep "$pause.$((RANDOM % 10))"
    pause=$((pause < 16 ? pause * 2 : 30))
  done
}

# --- What Compute Engine says of this VM (Google: "View and query VM metadata"). ---

METADATA=${GCE_METADATA_HOST:-metadata.google.internal}

# The state is in memory where it can be, so that a full disk does not take it away. On a laptop, where a VM is a
# process and /run is everybody's, both are in the VM's own folder.
if [ -n "${GCE_METADATA_HOST:-}" ]; then
  STATE=$HOME/.spotwarden WORK=$HOME/spotwarden
else
  STATE=/run/spotwarden WORK=/var/lib/spotwarden
fi

# One value, such as `preempted`; 1 where there is none, 2 where nobody answers.
ask() {
  local path=$1 seconds=${2:-5} status file=$STATE/asked.$BASHPID
  REPLY=""
  if command -v curl >/dev/null; then
    : >"$file"
    status=$(exec curl -s -m "$seconds" -o "$file" -w '%{http_code}' -H 'Metadata-Flavor: Google' \
      "http://$METADATA/computeMetadata/v1/$path" 2>/dev/null)
    IFS= read -r -d '' REPLY <"$file"
  else
    ask_by_hand "$path" "$seconds"
    status=$STATUS
  fi
  case $status in
    200) ;;
    404) return 1 ;;
    *) return 2 ;;
  esac
}

# The same in an image that has no curl: bash speaks HTTP itself.
ask_by_hand() {
  local answer host=${METADATA%:*} port=80
  [[ $METADATA == *:* ]] && port=${METADATA##*:}
  STATUS=000 REPLY=""
  answer=$(
    { exec 9<>"/dev/tcp/$host/$port"; } 2>/dev/null || exit
    printf 'GET /computeMetadata/v1/%s HTTP/1.0\r\nHost: %s\r\nMetadata-Flavor: Google\r\n\r\n' "$1" "$METADATA" >&9
    timeout "$2" cat <&9
    echo .
  )
  answer=${answer%.}
  [[ $answer =~ ^HTTP/[0-9.]+\ ([0-9]+) ]] || return 0
  STATUS=${BASH_REMATCH[1]} REPLY=${answer#*$'\r\n\r\n'}
}

# All that is asked for, each into a file of its own in the folder, by one process; a value that is not set gets no file.
# Fails where the server did not answer to each.
ask_all() {
  local folder=$1 path words=() codes
  shift
  mkdir -p "$folder"
  if ! command -v curl >/dev/null; then
    for path in "$@"; do
      ask "$path"
      case $? in
        0) printf '%s' "$REPLY" >"$folder/${path##*/}" ;;
        2) return 2 ;;
      esac
    done
    return 0
  fi
  for path in "$@"; do
    words+=("http://$METADATA/computeMetadata/v1/$path" -o "$folder/${path##*/}")
  done
  codes=$(curl -s -f -m 20 -w '%{http_code} ' -H 'Metadata-Flavor: Google' "${words[@]}" 2>/dev/null)
  codes=${codes//200 /}
  [ -z "${codes//404 /}" ]
}

# Whether Compute Engine takes this VM: 0 yes, 1 no, 2 unknown.
preempted() {
  ask instance/preempted "${1:-3}" || return 2
  [ "$REPLY" = TRUE ]
}

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

# --- Which attempt this is, and whether it may still write: a newer one may, an older one must not. ---

# The metadata says which attempt this VM was launched as. It does not change where the same VM is started again, and
# who launches by hand sets none: then the ledger says it, by the VM's own id.
find_attempt() {
  local line newest=0
  setting attempt
  ATTEMPT=$REPLY
  [[ $ATTEMPT =~ ^[1-9][0-9]{0,8}$ ]] || ATTEMPT=""
  if [ -z "$ATTEMPT" ]; then
    list "$HERE/metadata/attempts/" "$STATE/ledger" || return
    while IFS= read -r line; do
      [[ $line =~ /([0-9]{1,9})\.json$ ]] && [ "${BASH_REMATCH[1]}" -gt "$newest" ] && newest=${BASH_REMATCH[1]}
    done <"$STATE/ledger"
    # The newest record is this VM's, or is of one before it; the first launch is not in the ledger yet.
    ATTEMPT=$((newest ? newest - 1 : 0)) NEXT=$((newest ? newest : 1))
    [ "$newest" = 0 ] || look_ahead || [ $? = 1 ] || return 2
    if [ "$ATTEMPT" -lt "$newest" ]; then
      was_mine "$newest"
      case $? in
        0) return 1 ;;
        2) return 2 ;;
      esac
    fi
    [ "$ATTEMPT" -ge 1 ] && [ "$ATTEMPT" -ge "$newest" ] || ATTEMPT=$((newest + 1))
  fi
  NEXT=$((ATTEMPT + 1))
  # What a gang that bends goes on as meanwhile may not name this VM yet, or no longer.
  [ -n "${WAITS:-}" ] || look_ahead || may_rejoin "$?"
}

# Whether this VM was a member of a gang that goes on without it: it is started again, and waits.
may_rejoin() {
  [ "$1" = 1 ] && [ "${NODES:-1}" -gt 1 ] && [[ $REPLY == *'"bent":true'* ]] || return "$1"
  BENDS=1 WAITS=1
}

# Whether this VM was an attempt before the newest one, which is then in ATTEMPT: somebody has started it again though
# another VM goes on with the job. 1 no, 2 not known.
was_mine() {
  local file=$STATE/record.$BASHPID
  for ((ATTEMPT = $1 - 1; ATTEMPT >= 1; ATTEMPT--)); do
    get "$HERE/metadata/attempts/$ATTEMPT.json" "$file" 20
    case $? in
      0) read_record "$file" && is_mine "$REPLY" && NEXT=$((ATTEMPT + 1)) && return ;;
      1) ;;
      *) return 2 ;;
    esac
  done
  return 1
}

# Read the record of the next attempt: 0 there is none, or it is about this very VM; 1 it is another's; 2 not known.
look_ahead() {
  local answer=0 file=$STATE/record.$BASHPID
  while true; do
    get "$HERE/metadata/attempts/$NEXT.json" "$file" "${1:-20}" || answer=$?
    case $answer in
      0) ;;
      1) return 0 ;;
      *) return 2 ;;
    esac
    read_record "$file"
    is_mine "$REPLY" || return 1
    [[ $REPLY != *'"bent":true'* ]] || BENT_TO=$NEXT
    ATTEMPT=$NEXT NEXT=$((NEXT + 1))
  done
}

# A record of the ledger in REPLY, without the blanks and ends of lines that make it readable.
read_record() {
  REPLY=$(<"$1")
  REPLY=${REPLY//[[:space:]]/}
}

# Whether a record of the ledger names this VM as its own, or starts it again in its place.
is_mine() {
  local record=$1
  [[ $record =~ \"instances\":\{[^}]*\"$ID\" ]] && return
  [[ $record =~ \"replaces\":\{[^}]*\"$ID\" && $record != *'"early":true'* ]] || return 1
  [[ ${record##*\"kind\":} == '"start"'* ]]
}

# may_write [SECONDS]: whether this VM may; 0 yes, 1 a newer attempt has taken over, 2 nobody knows just now.
may_write() {
  local answer=0 seconds=${1:-20} file=$STATE/seen.$BASHPID
  [ -e "$STATE/fenced" ] && return 1
  # Between two epochs, and before the first, nobody writes but heartbeats and what was written before.
  [ -z "${WAITS:-}" ] || return 0
  look_ahead "$seconds" || answer=$?
  if [ "$answer" = 1 ] && [ -n "${HANDING:-}" ] && { note_move || [ -e "$HANDING" ]; }; then
    answer=0
    successor_waits "$seconds" || answer=$?
  elif [ "$answer" = 0 ] && [ -e "$STATE/registered" ]; then
    get "$REGISTRATION" "$file" "$seconds" || answer=$?
    if [ "$answer" = 0 ]; then
      REPLY=$(<"$file")
      [ "${REPLY//[[:space:]]/}" = "$ID" ] || answer=3
    elif [ "$answer" = 1 ]; then
      answer=0
    fi
  fi
  case $answer in
    0) return 0 ;;
    1 | 3) fence ;;
    *) return 2 ;;
  esac
}

fence() {
  [ -e "$STATE/fenced" ] || say "attempt $ATTEMPT on $NODE ($ID) is no longer the newest; it writes nothing more"
  : >"$STATE/fenced"
  echo fenced 1<>"$STATE/events" >"$STATE/events"
  return 1
}

# Write down that this VM is the node, where nobody has; a VM without the right to do so is registered by Spotwarden.
register() {
  local generation=0 answer=0
  printf '%s' "$ID" >"$STATE/id"
  get "$REGISTRATION" "$STATE/seen" 20 || answer=$?
  [ "$answer" -le 1 ] || return "$answer"
  if [ "$answer" = 0 ]; then
    REPLY=$(<"$STATE/seen")
    if [ "${REPLY//[[:space:]]/}" = "$ID" ]; then
      : >"$STATE/registered"
      return 0
    fi
    generation=""
  fi
  answer=0
  put "$STATE/id" "$REGISTRATION" "$generation" 20 || answer=$?
  case $answer in
    0) : >"$STATE/registered" ;;
    3) return 2 ;; # Whoever launched us has registered us in between: look again.
    4) say "this VM may not write $REGISTRATION; Spotwarden does" ;;
    *) return "$answer" ;;
  esac
}

# --- The marker: this node was shut down while its job was running. ---

# write_marker [EARLY [SECONDS]]: a try that takes longer than that is given up. EARLY is "early", or "handed-over" once
# the program has stopped, and what it wrote is uploaded.
write_marker() {
  local early=${1:+, \"early\": true} moment
  [ "$1" != handed-over ] || early+=', "handed_over": true'
  printf -v moment '%(%Y-%m-%dT%H:%M:%SZ)T' -1
  printf '{"job": "%s", "node": "%s", "instance_id": "%s", "zone": "%s", "attempt": %s, "at": "%s"%s}' \
    "$JOB" "$NODE" "$ID" "$ZONE" "$ATTEMPT" "$moment" "$early" >"$STATE/marker.$BASHPID"
  put "$STATE/marker.$BASHPID" "${PREFIX}preempted-jobs/$NODE" "" "${2:-6}"
}

# Whether the job has its status, which is then in REPLY: 0 yes, 1 no, 2 unknown. What an older attempt has written late is
# none: this one goes on.
has_ended() {
  local file=$STATE/status.$BASHPID answer=0
  get "$HERE/metadata/status-code" "$file" "${1:-20}" || return
  older_status "${1:-20}" || answer=$?
  case $answer in
    0) return 1 ;;
    2) return 2 ;;
  esac
  read -r REPLY <"$file"
  return 0
}

# Whether the status is of an older attempt, by its metadata, and then its generation in REPLY: 0 yes, 1 no, 2 unknown. What
# its developer launches by hand after the end is on no record, and has to take the status back first.
older_status() {
  local file=$STATE/described.$BASHPID answer=0 said
  describe "$HERE/metadata/status-code" "$file" "${1:-20}" || answer=$?
  case $answer in
    0) ;;
    1 | 2) return 2 ;; # Gone since we have seen it, or no answer: look again.
    *) return 1 ;;
  esac
  described "$file" attempt || return 1
  said=${REPLY:0:9}
  # This very VM, started again in its place, has written it as what it was then.
  ! described "$file" instance_id || [ "$REPLY" != "$ID" ] || return 1
  [ "$((10#$said))" -lt "$ATTEMPT" ] || return 1
  get "$HERE/metadata/attempts/$ATTEMPT.json" "$file.record" "${1:-20}" || return
  described "$file" '[gG]eneration'
}

# --- Thirty seconds, then the VM is gone. ---

main() {
  local begun=$SECONDS
  mkdir -p "$STATE"
  : >"$STATE/shutdown"
  # The program gets its signal first, and the marker does not wait for it: each has the whole time.
  [ -p "$STATE/events" ] && echo shutdown 1<>"$STATE/events" >"$STATE/events"
  mark
  while [ -e "$STATE/running" ] && [ ! -e "$STATE/done" ] && [ $((SECONDS - begun)) -lt 27 ]; do
    kill -0 "$(cat "$STATE/pid")" 2>/dev/null || break
    sleep 0.1
  done
}

# Only what Compute Engine takes was preempted: not what its owner deletes, not what has ended, not what has a successor.
mark() {
  local answer=0
  patiently 8 preempted || answer=$?
  [ "$answer" = 0 ] || { say "no marker: this VM is not preempted" && return; }
  recall_settings || patiently 5 read_settings || return
  [ -n "$BUCKET" ] || return
  open_bucket
  if [ -e "$STATE/attempt" ]; then
    ATTEMPT=$(<"$STATE/attempt") NEXT=$((ATTEMPT + 1))
  else
    find_attempt
  fi
  if has_ended 3; then
    say "no marker: the job has ended"
    return
  fi
  may_write 3
  [ $? != 1 ] || return
  if patiently 16 write_marker ""; then
    say "the marker is written"
  else
    say "the marker couldn't be written; the next tick finds the VM missing"
  fi
}

main
