#!/bin/bash
# Runs a job on this VM, keeps its output in the bucket, and says there how it is and how it ended.
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

# --- Output: restored when the program starts, uploaded while it runs and when it ends. ---
# The bucket is the truth. What was uploaded is remembered by time and size, so that only what changed goes up again.

# Google: "About Cloud Storage objects", the longest name in bytes.
NAME_BYTES=1024
BATCH=200 BATCH_BYTES=$((256 * 1024 * 1024))

# Every file of the output, the oldest first: time, size, path. A file that points to another one comes after it. A name
# may have any byte, ends of lines as well: what ends each row is a zero. Whoever reads rows does so under LC_ALL=C: else
# bash takes the zero for a part of the character that a stray byte before it seems to begin.
look_at_output() {
  find -L "$OUTPUT" -type f ! -name '*.tmp' ! -name '*.part' ! -name '*.incomplete' \
    -printf '%T@ %s %P\0' 2>/dev/null | LC_ALL=C sort -z -n
}

# A row of such a list by its parts: WHEN, SIZE and FILE. `read` would take blanks off the end of a name.
take_line() { WHEN=${1%% *} FILE=${1#* } SIZE=${FILE%% *} FILE=${FILE#* }; }

# A row of a listing by its parts: SIZE and NAME.
take_listed() { SIZE=${1%%$'\t'*} NAME=${1#*$'\t'}; }

# The name of the object that a file of the output becomes; fails where Cloud Storage holds no such name.
output_name() {
  local LC_ALL=C
  object_path "$1"
  REPLY=$HERE/output/$REPLY
  [ "${#REPLY}" -le "$NAME_BYTES" ]
}

# Whether a file may go up while it is written: one that is written at its end alone is useful at any length, and a small
# one is written at once.
goes_up_anyhow() {
  case $1 in
    *.log | *.jsonl | *.csv | *.txt | *events.out.tfevents.*) return 0 ;;
  esac
  [ "$2" -gt 0 ] && [ "$2" -le 65536 ]
}

# Whether this FILE, written a moment ago, may be in the middle of it. One that was renamed after its last write is whole:
# that changes the time of its inode alone. So is what was written after SIGTERM by a program that then ended by itself.
may_be_half() {
  local written inode
  goes_up_anyhow "$FILE" "$SIZE" && return 1
  [ -n "${WHOLE_AFTER:-}" ] && [[ $WHEN > $WHOLE_AFTER ]] && return 1
  read -r written inode < <(stat -Lc '%.9Y %.9Z' "$OUTPUT/$FILE" 2>/dev/null)
  [ "${written:-}" = "${inode:-}" ]
}

recall_sent() {
  local LC_ALL=C line
  declare -gA SENT=()
  [ -e "$SENT_LIST" ] || return 0
  while IFS= read -r -d '' line; do
    take_line "$line"
    SENT[$FILE]="$WHEN $SIZE"
  done <"$SENT_LIST"
}

# upload_output SECONDS [UNTIL [NEW [ORDER]]]: what has changed, in the order in which it was written. A file that was written
# after UNTIL, by default within the last two seconds, may be half: it waits, and WAITING is 1; with NEW it goes up all the
# same if it never did before. ORDER is `newest` where there may be no time for all of it. With ASKS it is asked first, where
# anything has changed, whether this VM may still write.
upload_output() {
  local LC_ALL=C budget=$1 until=${2:-} new=${3:-} order=${4:-} line paths=() looks=() answer=0 waiting=0 unheld=0
  recall_sent
  now
  until=${until:-$((REPLY - 2))}
  while IFS= read -r -d '' line; do
    take_line "$line"
    [ "${SENT[$FILE]:-}" = "$WHEN $SIZE" ] && continue
    if ! output_name "$FILE"; then
      unheld=4
      tell_once "no object can be called ${REPLY:0:200}…: that is longer than $NAME_BYTES bytes"
      continue
    fi
    if [ "${WHEN%.*}" -gt "$until" ] && [ "$new${SENT[$FILE]:-}" != new ] && may_be_half; then
      waiting=1
      continue
    fi
    paths+=("$FILE") looks+=("$WHEN $SIZE")
  done < <(look_at_output)
  UPLOADED=${#paths[@]} WAITING=$waiting
  [ -z "$order" ] || newest_first
  if [ "$UPLOADED" != 0 ]; then
    { [ -z "${ASKS:-}" ] || may_write; } && upload_all "$budget" || answer=$?
  fi
  return $((answer ? answer : unheld))
}

# Put the newest checkpoint first in `paths` and `looks`: the newest large file, with all of its folder. Then what is small,
# for it may name that checkpoint, and what is large and older last.
newest_first() {
  local place part newest="" folder sorted=() sizes=()
  for ((place = ${#paths[@]} - 1; place >= 0; place--)); do
    [ "${looks[place]#* }" -le 65536 ] || { newest=${paths[place]} && break; }
  done
  [ -n "$newest" ] || return 0
  folder=${newest%"${newest##*/}"}
  for ((place = ${#paths[@]} - 1; place >= 0; place--)); do
    take_part first
  done
  for part in small rest; do
    for ((place = 0; place < ${#paths[@]}; place++)); do
      take_part "$part"
    done
  done
  paths=("${sorted[@]}") looks=("${sizes[@]}")
}

take_part() {
  part_of_output "${paths[place]}" "${looks[place]#* }"
  [ "$REPLY" != "$1" ] || { sorted+=("${paths[place]}") && sizes+=("${looks[place]}"); }
}

part_of_output() {
  REPLY=rest
  if [ "$1" = "$newest" ] || [[ -n $folder && $1 == "$folder"* ]]; then
    REPLY=first
  elif [ "$2" -le 65536 ]; then
    REPLY=small
  fi
}

# What holds at each look is said once.
tell_once() {
  local LC_ALL=C
  declare -gA TOLD
  [ -z "${TOLD[$1]:-}" ] || return 0
  TOLD[$1]=1
  say "$1"
}

# Whether every file of the output is in the bucket, by a list of what it holds: 4 where some are not.
compare_output() {
  local LC_ALL=C line missing=() count=0
  local -A held=()
  list "$HERE/output/" "$STATE/held" || return 2
  while IFS= read -r line; do
    take_listed "$line"
    held[$NAME]=1
  done <"$STATE/held"
  while IFS= read -r -d '' line; do
    take_line "$line"
    count=$((count + 1))
    output_name "$FILE"
    [ -n "${held[$REPLY]:-}" ] || missing+=("$REPLY")
  done < <(look_at_output)
  [ "${#missing[@]}" -gt 0 ] || return 0
  say "${#missing[@]} of $count output files are not in the bucket, such as ${missing[0]:0:200}"
  return 4
}

# The files of `paths`, as they were in `looks`; ends at the first that fails, since later ones may point to it. Only a
# file that is refused for good, or is not there any more, does not hold up the others.
upload_all() {
  local end=$((SECONDS + $1)) place=0 count answer refused=0
  while [ "$place" -lt "${#paths[@]}" ]; do
    [ "$SECONDS" -lt "$end" ] || return 2
    count_batch "$place"
    answer=0
    upload_batch "$place" "$count" $((end - SECONDS)) || answer=$?
    place=$((place + SENT_NOW))
    if [ "$answer" = 4 ]; then
      object_path "${paths[place]:0:200}"
      say "the bucket refuses output/$REPLY (status ${STATUS:-unknown})"
      refused=4 place=$((place + 1))
    elif [ "$answer" != 0 ] && [ ! -e "$OUTPUT/${paths[place]}" ]; then
      place=$((place + 1))
    elif [ "$answer" = 2 ] && [ "$SENT_NOW" -gt 0 ]; then
      # Cut in the middle: the rest is a batch of its own, unless that fails at once.
      continue
    elif [ "$answer" != 0 ]; then
      return "$answer"
    fi
  done
  return "$refused"
}

# How many files go up together, from this one on. What was sent is noted after each batch, and forgotten if it is cut.
count_batch() {
  local most=$((${#paths[@]} - $1)) bytes=${looks[$1]#* }
  most=$((most > BATCH ? BATCH : most))
  [ "$TRANSPORT" = curl ] || most=1
  for ((count = 1; count < most; count++)); do
    bytes=$((bytes + ${looks[$1 + count]#* }))
    [ "$bytes" -le "$BATCH_BYTES" ] || break
  done
}

upload_batch() {
  local first=$1 count=$2 seconds=$3 place answer=0
  SENT_NOW=0
  if [ "$TRANSPORT" = curl ]; then
    upload_by_curl "$first" "$count" "$seconds" || answer=$?
  else
    output_name "${paths[first]}"
    put "$OUTPUT/${paths[first]}" "$REPLY" "" "$seconds" && SENT_NOW=1 || answer=$?
  fi
  if [ "$answer" = 2 ] && [ "$SENT_NOW" = 0 ] && has_grown "$first"; then
    answer=0
    upload_as_seen "$first" "$seconds" && SENT_NOW=1 || answer=$?
  fi
  # That there is no such bucket will not change.
  [ "$answer" != 1 ] || answer=4
  for ((place = first; place < first + SENT_NOW; place++)); do
    printf '%s %s\0' "${looks[place]}" "${paths[place]}"
  done 2>/dev/null >>"$SENT_LIST"
  return "$answer"
}

# Whether a file of `paths` is longer by now than it was in `looks`.
has_grown() {
  local size
  size=$(stat -Lc %s "$OUTPUT/${paths[$1]}" 2>/dev/null) && [ "$size" -gt "${looks[$1]#* }" ]
}

# The file as long as it was in `looks`. Curl before 8.7 tells the length at its beginning and sends all that it finds in
# the end: over HTTP/2 such an upload is refused, each time while a program goes on writing.
upload_as_seen() {
  local copy=$STATE/as-seen.$BASHPID answer=0
  output_name "${paths[$1]}"
  head -c "${looks[$1]#* }" "$OUTPUT/${paths[$1]}" >"$copy" 2>/dev/null || answer=2
  [ "$answer" != 0 ] || put "$copy" "$REPLY" "" "$2" || answer=$?
  rm -f "$copy"
  return "$answer"
}

# Many files by one process over one connection. The statuses come in the order of the files.
upload_by_curl() {
  local first=$1 count=$2 place codes=() plan=$STATE/plan.$BASHPID
  authorize
  for ((place = first; place < first + count; place++)); do
    [ "$place" = "$first" ] || echo next
    output_name "${paths[place]}"
    upload_url "$REPLY"
    curl_words "$REPLY"
    curl_text "$OUTPUT/${paths[place]}"
    printf 'upload-file = "%s"\nrequest = POST\noutput = /dev/null\n' "$REPLY"
    content_type "${paths[place]}"
    printf 'header = "Content-Type: %s"\n' "$REPLY"
  done >"$plan"
  read -r -d '' -a codes < <(timeout --foreground "$3" curl -s -f --fail-early -K "$plan" 2>/dev/null)
  rm -f "$plan"
  STATUS=000
  for STATUS in "${codes[@]}"; do
    [[ $STATUS == 2?? ]] || break
    SENT_NOW=$((SENT_NOW + 1))
  done
  [ "$SENT_NOW" = "$count" ] && return
  [[ $STATUS == 2?? ]] && STATUS=000
  understood
}

# What every request of a plan says: options hold for one request alone.
curl_words() {
  printf 'url = "%s"\ngloboff\nspeed-limit = 1\nspeed-time = %s\n' "$1" "$STALLED"
  printf 'header = "@%s"\nheader = "Expect:"\nconnect-timeout = 5\nwrite-out = "%%{http_code}\\n"\nfail\n' "$STATE/token"
}

# A text as a plan of curl's has it between quotes.
curl_text() {
  REPLY=${1//\\/\\\\}
  REPLY=${REPLY//\"/\\\"}
  REPLY=${REPLY//$'\n'/\\n}
  REPLY=${REPLY//$'\r'/\\r}
}

# The output as it is in the bucket. On a disk that has seen the job before, files that are what was uploaded stay; what is
# here and not in the bucket is put aside: it may be half. Links are in the bucket as what they lead to.
restore_output() {
  list "$HERE/output/" "$STATE/there" || return
  put_aside
  fetch_listed "$HERE/output/" "$OUTPUT" "$STATE/there" file_path || return
  look_at_output 2>/dev/null >"$SENT_LIST"
  return 0
}

put_aside() {
  local LC_ALL=C line path
  local -A there=()
  while IFS= read -r line; do
    take_listed "$line"
    file_path "${NAME#"$HERE/output/"}"
    [ -z "$REPLY" ] || there[$REPLY]=$SIZE
  done <"$STATE/there"
  recall_sent
  find "$OUTPUT/" -type l -delete
  while IFS= read -r -d '' line; do
    take_line "$line"
    [ "${SENT[$FILE]:-}" = "$WHEN $SIZE" ] && [ "${there[$FILE]:-}" = "$SIZE" ] && continue
    path=$ASIDE/$FILE
    mkdir -p "${path%/*}" && mv -f "$OUTPUT/$FILE" "$path"
  done < <(find "$OUTPUT/" -type f -printf '%T@ %s %P\0')
}

# The folders that the objects of a list are in. A job may have made a folder where it once had a file: nothing is ever
# deleted in the bucket, so it has both, and a disk cannot.
list_folders() {
  local prefix=$1 line path
  declare -gA FOLDERS=()
  while IFS= read -r line; do
    take_listed "$line"
    "${3:-as_it_is}" "${NAME#"$prefix"}"
    path=$REPLY
    while [[ $path == */* ]]; do
      path=${path%/*}
      [ -n "$path" ] && [ -z "${FOLDERS[$path]:-}" ] || break
      FOLDERS[$path]=1
    done
  done <"$2"
}

as_it_is() { REPLY=$1; }

# fetch_listed PREFIX FOLDER LIST [PATH]: the objects of a list that are not there in their size; PATH is the function
# that makes the path of each out of its name.
fetch_listed() {
  local prefix=$1 folder=$2 line path count=0 plan=$STATE/plan.$BASHPID got answer=0 naming=${4:-as_it_is}
  : >"$plan"
  authorize
  list_folders "$prefix" "$3" "$naming"
  while IFS= read -r line; do
    take_listed "$line"
    "$naming" "${NAME#"$prefix"}"
    path=$REPLY
    inside "$path" || continue
    if [ -n "${FOLDERS[$path]:-}" ]; then
      say "gs://$BUCKET/$NAME is skipped: there is also a folder of that name"
      continue
    fi
    [ -e "$folder/$path" ] && [ "$(stat -Lc %s "$folder/$path")" = "$SIZE" ] && continue
    path=$folder/$path
    if [ "$TRANSPORT" != curl ]; then
      mkdir -p "${path%/*}" && get "$NAME" "$path" || return
      continue
    fi
    [ "$count" = 0 ] || echo next >>"$plan"
    encoded "$NAME"
    {
      curl_words "$API/storage/v1/b/$BUCKET/o/$REPLY?alt=media"
      curl_text "$path"
      printf 'create-dirs\noutput = "%s"\n' "$REPLY"
    } >>"$plan"
    count=$((count + 1))
  done <"$3"
  if [ "$count" -gt 0 ]; then
    got=$(curl -s -f --fail-early -K "$plan" 2>/dev/null) || answer=$?
    STATUS=${got##*$'\n'}
    [ "$answer" = 0 ] || fetched_badly "$answer" || answer=$?
  fi
  rm -f "$plan"
  return "$answer"
}

# What came of curl's failure: 4 where it will not become better.
fetched_badly() {
  cut_short "$1"
  [ "$STATUS" != unwritable ] || say "a download can't be written; check whether the disk is full"
  understood
  [ $? != 4 ] || return 4
  return 2
}

# Whether a path of the bucket stays inside the folder that it is meant for; an empty one is a folder's placeholder.
inside() {
  case /$1/ in
    // | *//* | */./* | */../*) return 1 ;;
  esac
}

# --- Progress: what the program says of itself, and the heartbeat that tells it. ---
# The heartbeat comes at a fixed period, whatever the program does: it says that this VM is alive, and when the program
# last made progress. Who looks for a program that hangs reads the second, never the time of the object.

METRICS_AT_MOST=1000000
LOG_AT_MOST=8000000
TAIL_BYTES=65536
# Bytes of all metrics in a heartbeat: Cloud Storage takes 8 KiB of custom metadata, and a checkpoint may have four.
BEAT_METRICS_AT_MOST=3000

declare -A METRICS=()
STEP="" STEPS="" CHECKPOINT="" PROGRESS_AT=""

# Take over what a line of JSON says: {"step": 5, "steps": 80, "checkpoint": "…", "loss": 0.1}. Fails, and changes
# nothing, where the line is no such object; a program may be in the middle of writing it.
read_progress() {
  local rest=$1 name value pairs=() place
  local member='^[[:space:]]*"(([^"\\]|\\.)*)"[[:space:]]*:[[:space:]]*("([^"\\]|\\.)*"|[-+A-Za-z0-9._]+)[[:space:]]*([,}])(.*)$'
  [[ $rest =~ ^[[:space:]]*\{(.*)$ ]] || return 1
  rest=${BASH_REMATCH[1]}
  while [[ $rest =~ $member ]]; do
    pairs+=("${BASH_REMATCH[1]}" "${BASH_REMATCH[3]}")
    rest=${BASH_REMATCH[6]}
    [ "${BASH_REMATCH[5]}" = "}" ] && break
  done
  [[ $rest =~ ^[[:space:]]*$ ]] && [ "${#pairs[@]}" -gt 0 ] || return 1
  for ((place = 0; place < ${#pairs[@]}; place += 2)); do
    name=${pairs[place]} value=${pairs[place + 1]}
    take_figure "$name" "$value"
  done
}

# One figure by its name: three have a place of their own, all others are metrics.
take_figure() {
  local name=$1 value=$2
  if [ "$name" = checkpoint ]; then
    if [[ $value == \"* ]]; then from_json "$value"; else REPLY=$value; fi
    CHECKPOINT=${REPLY:0:1000}
    return 0
  fi
  value=${value#\"}
  measured "${value%\"}" || return 0
  case $name in
    step) [[ $REPLY == \"* ]] || note_step "$REPLY" ;;
    steps) [[ $REPLY == \"* ]] || STEPS=$REPLY ;;
    *)
      [[ $name =~ ^[A-Za-z_][A-Za-z0-9_./-]{0,63}$ ]] || return 0
      [ -n "${METRICS[$name]:-}" ] || [ "${#METRICS[@]}" -lt 200 ] || return 0
      METRICS[$name]=$REPLY
      ;;
  esac
}

# The newest step, and in a file the first one of this attempt: who starts at 0 again has lost what was done before.
note_step() {
  STEP=$1
  [ -s "$STATE/first-step.${ATTEMPT-}" ] || printf '%s' "$1" 2>/dev/null >"$STATE/first-step.${ATTEMPT-}"
}

# The last whole line of the program's own file.
follow_file() {
  local line last=""
  [ -s "$PROGRESS" ] || return 0
  while IFS= read -r line || [ -n "$line" ]; do
    read_progress "$line" && last=$line
  done < <(tail -n 3 "$PROGRESS" 2>/dev/null)
  [ -n "$last" ]
}

# What the regular expressions of `spotwarden-metrics` find in the newest lines of the log.
follow_log() {
  local line rule pattern
  [ -n "$RULES" ] && [ -s "$LOG" ] || return 0
  while IFS= read -r line; do
    while IFS= read -r rule; do
      pattern=${rule#*=}
      [[ $rule == *=* && $line =~ $pattern && -n ${BASH_REMATCH[1]:-} ]] && take_figure "${rule%%=*}" "${BASH_REMATCH[1]}"
    done <<<"$RULES"
  done < <(tail -c "$TAIL_BYTES" "$LOG" | tr '\r' '\n')
  return 0
}

# The classes of a regular expression in the words of bash, which knows none within brackets.
in_words_of_bash() {
  local rest=$1 made="" within="" piece class
  while [ -n "$rest" ]; do
    piece=${rest:0:1}
    [[ $piece != "\\" ]] || piece=${rest:0:2}
    # A bracket that opens a set may be followed by a ^ and by a ] that belongs to it.
    [[ -n $within || ! $rest =~ ^\[\^?\]? ]] || piece=${BASH_REMATCH[0]}
    [[ -z $within || ! $rest =~ ^\[:[a-z]+:\] ]] || piece=${BASH_REMATCH[0]}
    rest=${rest:${#piece}}
    class=""
    case $piece in
      '\d') class=0-9 ;;
      '\s') class='[:space:]' ;;
      '\w') class='[:alnum:]_' ;;
      '\S') [ -n "$within" ] || piece='[^[:space:]]' ;;
      '['*) [ -n "$within" ] || within=1 ;;
      ']' | $'\n') within="" ;;
      # Within brackets bash takes a backslash for itself.
      '\-') [ -z "$within" ] || piece='[.-.]' ;;
      "\\"?) [ -z "$within" ] || piece=${piece:1} ;;
    esac
    if [ -n "$class" ]; then
      piece=$class
      [ -n "$within" ] || piece="[$class]"
    fi
    made+=$piece
  done
  REPLY=$made
}

# Regular expressions as people write them for Python, in the words of bash.
read_rules() {
  local rule
  setting metrics
  in_words_of_bash "$REPLY"
  RULES=$REPLY
  while IFS= read -r rule; do
    [[ "" =~ ${rule#*=} ]]
    [ $? != 2 ] || say "invalid regular expression: $rule"
  done 2>/dev/null <<<"$RULES"
}

# What may not stand still while a program works: its figures, its log, its output, its TensorBoard events.
signs_of_progress() {
  local newest
  newest=$(
    find -L "$OUTPUT" "$CODE" -maxdepth 6 \( -path "$OUTPUT/*" ! -path "$OUTPUT/logs/libtpu/*" -o -name 'events.out.tfevents.*' \) -type f \
      -printf '%T@\n' 2>/dev/null | LC_ALL=C sort -n | tail -n 1
  )
  figures
  REPLY="$REPLY $newest $(exec stat -Lc %s "$LOG" 2>/dev/null)"
}

# What is known of the progress, as members of a JSON object, each with a comma before it.
figures() {
  local name made="" parts=""
  [ -z "$STEP" ] || made+=",\"step\":$STEP"
  [ -z "$STEPS" ] || made+=",\"steps\":$STEPS"
  if [ -n "$CHECKPOINT" ]; then
    json_text "$CHECKPOINT"
    made+=",\"checkpoint\":\"$REPLY\""
  fi
  for name in "${!METRICS[@]}"; do
    parts+=",\"$name\":${METRICS[$name]}"
  done
  [ -z "$parts" ] || made+=",\"metrics\":{${parts:1}}"
  REPLY=$made
}

# Look at the program, and note when it last made progress; its start counts.
look_at_progress() {
  follow_file
  follow_log
  signs_of_progress
  if [ -s "$STATE/progress-at" ] && [ "$REPLY" = "$(<"$STATE/signs")" ]; then
    PROGRESS_AT=$(<"$STATE/progress-at")
    return 0
  fi
  # In files: what tells that the program has ended is not the process that has watched it.
  printf '%s' "$REPLY" >"$STATE/signs"
  note_gap
  printf -v PROGRESS_AT '%(%Y-%m-%dT%H:%M:%SZ)T' -1
  printf '%s' "$PROGRESS_AT" >"$STATE/progress-at"
}

# The longest time in seconds, from a minute on, that the program was without progress before it went on: it may be
# as long again.
note_gap() {
  local before known=59
  before=$(stat -Lc %Y "$STATE/progress-at" 2>/dev/null) || return 0
  [ ! -s "$STATE/gap" ] || known=$(<"$STATE/gap")
  now
  [ $((REPLY - before)) -le "$known" ] || printf '%s' $((REPLY - before)) >"$STATE/gap"
}

# The beginning of what is told: now, this attempt, and of a gang this run.
told_now() {
  local run=""
  [ "$NODES" = 1 ] || run=",\"round\":$ROUND"
  printf -v REPLY '{"at":"%(%Y-%m-%dT%H:%M:%SZ)T","instance_id":"%s","attempt":%s%s' -1 "$ID" "$ATTEMPT" "$run"
}

# beat [STATUS [STOPPED]]: write a heartbeat, an empty object with all that it tells in its custom metadata, so that who
# lists a thousand of them reads none. STATUS is "running", the status with which the program has ended, "stopped", or
# "handed-over" where the successor may begin; STOPPED says of one that has ended that it was told to. It is written
# over the heartbeat of the generation BEAT_OVER, where it is set.
beat() {
  local told=("status=${1:-running}" ${2:+"stopped=1"}) moment
  look_at_progress
  may_write || return
  # A loop that has followed the chain says nothing for an epoch that the program has not come to.
  [ -n "${WAITS:-}" ] || ! moved_on || return 0
  printf -v moment '%(%Y-%m-%dT%H:%M:%SZ)T' -1
  told+=("job=$JOB" "attempt=$ATTEMPT" "instance_id=$ID" "at=$moment" "progress_at=$PROGRESS_AT")
  [ "$NODES" = 1 ] || told+=("round=$ROUND")
  [ ! -e "$TURN_FILE.awaited" ] || told+=("standby=1")
  [ -z "$STEP" ] || told+=("step=$STEP")
  [ -z "$STEPS" ] || told+=("steps=$STEPS")
  [ ! -s "$STATE/first-step.${ATTEMPT-}" ] || told+=("first_step=$(<"$STATE/first-step.${ATTEMPT-}")")
  [ ! -s "$STATE/gap" ] || told+=("longest_gap=$(<"$STATE/gap")")
  if [ -n "$CHECKPOINT" ]; then
    # Bytes that are no UTF-8 would have the whole refused.
    object_path "${CHECKPOINT//[[:cntrl:]]/ }"
    told+=("checkpoint=$REPLY")
  fi
  metrics_of_beat
  [ -z "$REPLY" ] || told+=("metrics={$REPLY}")
  if [ "$TRANSPORT" = gsutil ]; then
    in_one_value "${told[@]}"
    told=("beat=$REPLY")
  fi
  : >"$STATE/beat"
  put "$STATE/beat" "${PREFIX}heartbeats/$NODE" "${BEAT_OVER:-}" 30 "${told[@]}"
}

# All of that in one value without commas, for gsutil: where it hands its work to gcloud a comma ends a value, and of several
# values only the last counts.
in_one_value() {
  local pair made=""
  for pair in "$@"; do
    encoded "${pair#*=}"
    made+="&${pair%%=*}=$REPLY"
  done
  REPLY=${made#&}
}

# The metrics that a heartbeat has room for; what is no number first, for a training may have to end because of it.
metrics_of_beat() {
  local name made="" order=()
  for name in "${!METRICS[@]}"; do
    if [[ ${METRICS[$name]} == \"* ]]; then
      order=("$name" ${order[@]+"${order[@]}"})
    else
      order+=("$name")
    fi
  done
  for name in ${order[@]+"${order[@]}"}; do
    [ $((${#made} + ${#name} + ${#METRICS[$name]} + 4)) -gt "$BEAT_METRICS_AT_MOST" ] ||
      made+=",\"$name\":${METRICS[$name]}"
  done
  REPLY=${made#,}
}

# A line of the metrics file where there are new figures; every second line goes when it is full.
keep_figures() {
  local known
  figures
  known=$REPLY
  [ -n "$known" ] && [ "$known" != "$(cat "$STATE/figures" 2>/dev/null)" ] || return 0
  may_write || return
  told_now
  printf '%s' "$known" >"$STATE/figures"
  printf '%s%s}\n' "$REPLY" "$known" 2>/dev/null >>"$CURVE" || return 0
  if [ "$(stat -c %s "$CURVE")" -gt "$METRICS_AT_MOST" ]; then
    sed -n 'p;n' "$CURVE" >"$CURVE.thin" && mv -f "$CURVE.thin" "$CURVE"
  fi
  put_figures
}

put_figures() { put "$CURVE" "$HERE/metadata/metrics/$NODE/${CURVE##*/}" "" 60; }

# The last that is told of a program that has ended: how, its figures, its log. Each is sent again where it must be: an
# object takes one write a second, and there is no next look. The heartbeat goes on being sent for some seconds, for what
# it says has to be the last word.
tell_end() {
  patiently 10 beat "$@"
  keep_figures || { sleep 2 && put_figures; }
  upload_last_log
}

upload_last_log() {
  upload_log
  log_is_sent || { sleep 2 && upload_log; }
}

log_is_sent() { [ ! -e "$LOG" ] || [ "$(stat -Lc %s "$LOG")" = "${OLD_LOG_SIZE:-0}" ]; }

# upload_log [SECONDS]: the log, its newest part where it is long. What stands on the disk is cut as well before it fills it.
# It goes up under the number that its file has: ATTEMPT may be of a newer epoch by now.
upload_log() {
  local size from=$STATE/log
  size=$(stat -Lc %s "$LOG" 2>/dev/null) || return 0
  [ "$size" = "${OLD_LOG_SIZE:-0}" ] && return 0
  # A copy: what grows while it is sent is refused over HTTP/2.
  if [ "$size" -le "$LOG_AT_MOST" ] && [ ! -e "$LOG.cut" ]; then
    head -c "$size" "$LOG" >"$from"
  else
    { echo "[the beginning was cut: this is the newest part of the log]" && tail -c $((LOG_AT_MOST - 100)) "$LOG"; } >"$from"
  fi
  put "$from" "$HERE/metadata/logs/$NODE/${LOG##*/}" "" "${1:-60}" && OLD_LOG_SIZE=$size
  if [ "$size" -gt $((4 * LOG_AT_MOST)) ] && [ -f "$LOG" ]; then
    : >"$LOG.cut"
    tail -c "$LOG_AT_MOST" "$LOG" >"$LOG.tail" && cat "$LOG.tail" >"$LOG"
    rm -f "$LOG.tail"
  fi
  return 0
}

# --- Several nodes: each knows its rank, the first one judges for all. ---
# A program whose peer is gone fails as well, and that is no failure of the job. So a node says in a last heartbeat how
# its program ended, and the first node writes the job's status once it has heard of all; where one has been taken away
# nobody writes a status, and the gang is started anew as one.

# The nodes that are told that they will be taken, and for which of them this one has saved already.
TOLD_PEERS="" SAVED_FOR="" SAVE_AGAIN="" HURRY=$STATE/hurry
# Seconds between two looks for a node that is told.
TOLD_LOOK=5

find_place() {
  local rank
  value NODES
  NODES=${REPLY:-1}
  [[ $NODES =~ ^[1-9][0-9]{0,4}$ ]] || NODES=1
  BASE=$NODE RANK=0 WIDTH=1
  if [ "$NODES" -gt 1 ] && [[ $NODE =~ ^(.*[^0-9])(0*)([1-9][0-9]*)$ ]]; then
    BASE=${BASH_REMATCH[1]} RANK=$((BASH_REMATCH[3] - 1))
    # `bulk create` fills up with zeros: train-01 to train-16.
    [ -z "${BASH_REMATCH[2]}" ] || WIDTH=$((${#BASH_REMATCH[2]} + ${#BASH_REMATCH[3]}))
  fi
  setting rank
  rank=$REPLY
  [[ $rank =~ ^[0-9]{1,5}$ ]] && RANK=$((10#$rank))
  value MASTER_ADDR
  MASTER=$REPLY
  # Of train-16 alone nobody could tell whether it goes with train-1 or train-01.
  [[ ${MASTER%%.*} =~ ^(.*[^0-9])(0*1)$ && ${BASH_REMATCH[1]} = "$BASE" ]] && WIDTH=${#BASH_REMATCH[2]}
  peer 0
  [ "$NODES" -gt 1 ] || REPLY=localhost
  MASTER=${MASTER:-$REPLY}
  # On a laptop all nodes are one computer, and their names mean nothing to it.
  [ -n "${GCE_METADATA_HOST:-}" ] && MASTER=127.0.0.1
  value MASTER_PORT
  PORT=${REPLY:-29500}
}

# The name of a node by its rank: among the members of a gang that bends, else by its number.
peer() {
  printf -v REPLY '%s%0*d' "$BASE" "$WIDTH" $(($1 + 1))
  REPLY=${MEMBERS[$1]:-$REPLY}
}

# For MPI: a line for each node, with as many slots as it has GPUs, or one.
write_hostfile() {
  local place gpus=0 one
  for one in /dev/nvidia[0-9]*; do
    [ -e "$one" ] && gpus=$((gpus + 1))
  done
  for ((place = 0; place < NODES; place++)); do
    peer "$place"
    [ "$NODES" -gt 1 ] || REPLY=localhost
    echo "$REPLY slots=$((gpus ? gpus : 1))"
  done >"$HOSTFILE"
}

# Look at the others, each some seconds, and tell the main loop what it has to know. Who is told that it will be taken is
# looked for more often where nodes are told: all have to save at once.
watch_peers() {
  local pause=$LOOK due
  setting early
  [ -z "${REPLY#0}" ] || pause=$((LOOK < TOLD_LOOK ? LOOK : TOLD_LOOK))
  due=$((SECONDS + LOOK - pause))
  rm -f "$HURRY"
  while sleep "$pause"; do
    PEERS=""
    if [ -n "$TOLD_PEERS" ] || [ "$SECONDS" -ge "$due" ]; then
      look_at_peers
      due=$((SECONDS + LOOK - pause))
    else
      look_at_markers
    fi
    save_with_peers
    save_to_join
    # That all others have succeeded ends no program that still runs: the last to save is often the first node.
    [ -z "${PEERS#succeeded}" ] || echo "peers $PEERS" >"$STATE/events"
  done
}

# Another node is told that it will be taken: what it has seen of the work is lost with it. So all save at once, and once
# more when half of the notice is over, and train on until it stops.
save_with_peers() {
  if [ -z "$TOLD_PEERS" ]; then
    SAVED_FOR="" && rm -f "$HURRY"
  elif [ -e "$HANDING" ] || [ "$PEERS" = lost ]; then
    return 0
  elif [ "$SAVED_FOR" != "$TOLD_PEERS" ]; then
    SAVED_FOR=$TOLD_PEERS SAVE_AGAIN=$((SECONDS + NOTICE_SECONDS / 2))
    : >"$HURRY"
    say "another node will be preempted: the program saves, and continues until that node stops"
    ask_for_checkpoint
  elif [ -n "$SAVE_AGAIN" ] && [ "$SECONDS" -ge "$SAVE_AGAIN" ]; then
    SAVE_AGAIN=""
    ask_for_checkpoint
  fi
}

# PEERS becomes "lost" where one was taken away, "ended" where the program of one has failed or the first node has
# stopped, "ahead" where that runs once more, "succeeded" where all others have, else "". The first node looks at all,
# the others at the first one, whose run is in LEAD.
look_at_peers() {
  local place last=$((RANK == 0 ? NODES - 1 : 0)) well=0
  PEERS=""
  look_at_markers && [ -z "$PEERS" ] || return 0
  for place in $TOLD_PEERS; do
    place=${place%%@*}
    peer "$place"
    describe "${PREFIX}heartbeats/$REPLY" "$STATE/peer-$place" 20 || continue
    ! run_of "$place" || [ -z "$HANDED" ] || [ "$LEAD" != "$ROUND" ] || { PEERS=lost && return; }
  done
  for ((place = RANK == 0; place <= last; place++)); do
    peer "$place"
    describe "${PREFIX}heartbeats/$REPLY" "$STATE/peer-$place" 20 || continue
    run_of "$place" || continue
    if [ "$LEAD" != "$ROUND" ]; then
      [ "$RANK" = 0 ] || [ "$LEAD" -lt "$ROUND" ] || PEERS=ahead
      continue
    fi
    [ -z "$HANDED" ] || { PEERS=lost && return; }
    [ "$EXIT" != 0 ] || well=$((well + 1))
    [ "${EXIT:-0}" = 0 ] || PEERS=ended
  done
  [ -n "$PEERS" ] || [ "$RANK" != 0 ] || [ "$well" -lt $((NODES - 1)) ] || PEERS=succeeded
}

# PEERS becomes "lost" where the marker of another node says that it is taken away. TOLD_PEERS are those that will be, and have
# until then: RANK@MOMENT for each. Fails where nobody knows.
look_at_markers() {
  local place soon=""
  list "${PREFIX}preempted-jobs/$BASE" "$STATE/markers" || return
  for ((place = 0; place < NODES; place++)); do
    [ -s "$STATE/markers" ] || break
    peer "$place"
    if [ "$place" = "$RANK" ] || ! grep -q "/$REPLY$" "$STATE/markers" || ! of_this_attempt "$REPLY"; then
      continue
    fi
    if [[ ! $REPLY =~ \"early\":\ *true ]]; then
      PEERS=lost
      return
    fi
    # Any VM may have written it, and its words are counted with: nothing but a moment is taken.
    [[ $REPLY =~ \"at\":\ *\"([0-9TZ:.+-]{1,40})\" ]] && soon+=" $place@${BASH_REMATCH[1]}"
  done
  TOLD_PEERS=${soon# }
}

# Whether a node's marker, then in REPLY, is news: that of an earlier attempt may be cleared only when this one runs.
of_this_attempt() {
  get "${PREFIX}preempted-jobs/$1" "$STATE/peer-marker" 20 || return
  REPLY=$(<"$STATE/peer-marker")
  [[ $REPLY =~ \"attempt\":\ *${ATTEMPT}[,\}] ]]
}

# What a node's newest heartbeat says of this attempt: its run in LEAD, how its program ended in EXIT (""), whether it was
# told to end in BY_OTHERS, and whether it has stopped since it is taken in HANDED. A VM of the same name elsewhere may be
# another job's.
run_of() {
  local LINE
  LINE=$(cat "$STATE/peer-$1" 2>/dev/null)
  LEAD="" EXIT="" BY_OTHERS="" HANDED=""
  member job && [ "$REPLY" = "$JOB" ] && member attempt && [ "$REPLY" = "$ATTEMPT" ] || return 1
  member round && [[ $REPLY =~ ^(0|[1-9][0-9]{0,8})$ ]] || return 1
  LEAD=$REPLY
  member status || return 0
  [ "$REPLY" != handed-over ] || HANDED=1
  [[ $REPLY =~ ^[0-9]{1,3}$ ]] || return 0
  EXIT=$REPLY
  ! member stopped || BY_OTHERS=1
}

# What LINE, a heartbeat as `describe` shows it, says under this name; fails where it does not.
member() {
  [[ $LINE =~ \"$1\":\ *\"([^\"]*)\" || $LINE =~ [[:space:]\&]$1=([^\&[:space:]]*) ]] && REPLY=${BASH_REMATCH[1]}
}

# All nodes of an attempt run the program as often as the first one does; after a reboot it begins a new run.
find_run() {
  local first
  ROUND=1
  [ "$NODES" -gt 1 ] && [ -z "$WAITS" ] || return 0
  peer 0
  first=$REPLY
  describe "${PREFIX}heartbeats/$first" "$STATE/peer-0" 20
  case $? in
    0) ;;
    1) return 0 ;;
    *) return 2 ;;
  esac
  run_of 0 || return 0
  ROUND=$((RANK == 0 ? LEAD + 1 : LEAD))
}

# The first node, whose own program has ended with a status: wait until it is known how the job has, and say that in
# VERDICT: a status, "lost", or "again" where a lost node is back. Once a node has failed all others get the time to stop
# and to say so; one that says nothing is gone, though nobody has told yet.
judge_gang() {
  local end=$((SECONDS + VERDICT_SECONDS)) was_lost=${PEERS_SAY#ended}
  while true; do
    ! await_look || { VERDICT=bent && return; }
    look_at_peers
    gang_is_over && return
    ! moved_on || { VERDICT=bent && return; }
    if [ "$PEERS" = lost ]; then
      was_lost=1
      continue
    fi
    if [ -n "$was_lost" ]; then
      ROUND=$((ROUND + 1)) VERDICT=again
      return
    fi
    if [ "$1" = 0 ] && [ "$PEERS" != ended ]; then
      VERDICT=0
      [ "$PEERS" != succeeded ] || return
      end=$((SECONDS + VERDICT_SECONDS))
      continue
    fi
    count_failures "$1"
    [ "$HEARD" -lt $((NODES - 1)) ] && [ "$SECONDS" -lt "$end" ] || return
  done
}

# The others wait for a status, or for what becomes of the gang.
wait_for_verdict() {
  while true; do
    ! await_look || { VERDICT=bent && return; }
    look_at_peers
    gang_is_over && return
    ! moved_on || { VERDICT=bent && return; }
    if [ "$PEERS" = ahead ]; then
      ROUND=$LEAD VERDICT=again
      return
    fi
    if has_ended; then
      VERDICT=ended
      return
    fi
  done
}

# Whether the VERDICT is that there is none here: this VM goes, or the gang is started anew.
gang_is_over() {
  listen 0.01
  VERDICT=lost
  [ -z "$TAKEN" ] || return 0
  may_write || [ $? = 2 ] || return 0
  return 1
}

# How many of the others have said how they ended, and what the first failure was that nobody else has caused.
count_failures() {
  local place
  HEARD=0 VERDICT=""
  [ -n "$STOPPED" ] || [ "$1" = 0 ] || VERDICT=$1
  for ((place = 1; place < NODES; place++)); do
    run_of "$place" && [ "$LEAD" = "$ROUND" ] && [ -n "$EXIT" ] || continue
    HEARD=$((HEARD + 1))
    [ "$EXIT" = 0 ] || [ -n "$BY_OTHERS" ] || VERDICT=${VERDICT:-$EXIT}
  done
  VERDICT=${VERDICT:-1}
}

# --- A gang that bends: its members are those that the newest record of the chain names; its number is their epoch. ---
# Nothing is trained before all members of an epoch have stopped what they did in the one before, and have uploaded it.

# EPOCH is the one that the program runs in, BENT_TO the newest that this VM was seen to be in.
MEMBERS=() ABSENT=() BENDS="" WAITS="" EPOCH="" BENT_TO="" CALLED="" SAVED="" READY=$STATE/ready
# Seconds between two looks at the chain, and at the others while all of them wait.
MEMBERS_LOOK=3 BARRIER_LOOK=1
# The VMs that wait to join for which this one has saved.
SAVED_TO_JOIN=""
# When it was first seen that the newest record no longer names this VM, and how long it waits to be named again.
DROPPED="" REJOIN_SECONDS=1200

# Whether this VM was made for a gang that bends. What it joined on this disk before a reboot it need not join again.
find_bending() {
  setting joins
  [ "$REPLY" = 1 ] && [ "$NODES" -gt 1 ] || return 0
  BENDS=1 WAITS=1
}

# What a record, in REPLY, says: the members in their order, and the nodes that may join again: those that are to be
# refilled, and those that somebody removed and may start.
read_members() {
  local rest why
  MEMBERS=() ABSENT=()
  for why in lacking removed; do
    [[ $REPLY =~ \"$why\":\{(.*)$ ]] || continue
    rest=${BASH_REMATCH[1]}
    while [[ $rest =~ ^\"([^\"]+)\":\{[^}]*\},?(.*)$ ]]; do
      ABSENT+=("${BASH_REMATCH[1]}")
      rest=${BASH_REMATCH[2]}
    done
  done
  [[ $REPLY =~ \"instances\":\{([^}]*)\} ]] || return 1
  rest=${BASH_REMATCH[1]}
  while [[ $rest =~ ^\"([^\"]+)\":\"[0-9]+\",?(.*)$ ]]; do
    MEMBERS+=("${BASH_REMATCH[1]}")
    rest=${BASH_REMATCH[2]}
  done
  [ "${#MEMBERS[@]}" -gt 0 ]
}

names_me() { [[ $REPLY =~ \"instances\":\{[^}]*\"$ID\" ]]; }

# What this VM is among the members: NODES, RANK and MASTER. The program's port is each epoch's own.
place_among_members() {
  local place domain=""
  NODES=${#MEMBERS[@]}
  for ((place = 0; place < NODES; place++)); do
    [ "${MEMBERS[place]}" != "$NODE" ] || RANK=$place
  done
  value MASTER_ADDR
  [[ $REPLY != *[a-z]*.* ]] || domain=.${REPLY#*.}
  MASTER=${MEMBERS[0]}$domain
  [ "$NODES" -gt 1 ] || MASTER=localhost
  [ -z "${GCE_METADATA_HOST:-}" ] || MASTER=127.0.0.1
}

# Follow the chain to its newest record: 0 it names this VM, which is among its members now; 1 none has named it yet, or
# the newest goes on without it; 2 not known; 3 the job goes on with another gang, or not at all.
find_membership() {
  local number=$ATTEMPT file=$STATE/members.$BASHPID found=1 answer
  while true; do
    answer=0
    get "$HERE/metadata/attempts/$number.json" "$file" 20 || answer=$?
    case $answer in
      0) ;;
      1) break ;;
      *) return 2 ;;
    esac
    read_record "$file"
    if names_me && read_members; then
      found=0 ATTEMPT=$number NEXT=$((number + 1)) DROPPED=""
    elif is_over "$number"; then
      return 3
    elif [ "$found" = 0 ]; then
      found=1 ATTEMPT=$number NEXT=$((number + 1)) DROPPED=${DROPPED:-$SECONDS}
    fi
    number=$((number + 1))
  done
  [ "$found" != 0 ] || place_among_members
  return "$found"
}

# Whether a member that the gang went on without has waited in vain to be one again: who starts its VM wants it back, but
# another may have its place.
is_given_up() { [ -n "$DROPPED" ] && [ $((SECONDS - DROPPED)) -ge "$REJOIN_SECONDS" ]; }

# Whether a record, in REPLY, ends the gang that this VM was made for: it is closed, or another one is begun.
is_over() {
  [[ $REPLY =~ \"state\":\"(ended|stopped|gave up|gaveup)\" ]] && return
  [ "$1" != "$ATTEMPT" ] && [[ $REPLY != *'"bent":true'* ]]
}

# Whether there is a newer record that says who goes on: 0 yes, with this VM or without it.
members_changed() {
  local file=$STATE/changed.$BASHPID
  [ "$NODES" -gt 1 ] || [ -n "$BENDS" ] || return 1
  ! moved_on || return 0
  get "$HERE/metadata/attempts/$NEXT.json" "$file" 20 || return
  read_record "$file"
  [[ $REPLY == *'"bent":true'* ]] || return 1
  names_me || fence
  return 0
}

# Whether it wants this VM back once that was not taken, and has said that it waits.
wants_me_back() {
  local file=$STATE/wanted.$BASHPID
  get "$HERE/metadata/attempts/$NEXT.json" "$file" 20 && goes_on_without_me "$file" || return
  [[ $REPLY =~ \"lacking\":\{.*\"$NODE\":\{\"instance_id\":\"$ID\" ]]
}

# Whether the record in this file is that of a gang that bends, which goes on without this VM.
goes_on_without_me() {
  read_record "$1"
  [[ $REPLY == *'"bent":true'* ]] && ! names_me
}

# Whether this process has followed the chain to an epoch that its program is not of.
moved_on() { [ -n "${BENT_TO:-}" ] && [ "$BENT_TO" != "$EPOCH" ]; }

watch_members() {
  while sleep "$MEMBERS_LOOK"; do
    ! members_changed || echo "peers changed" 1<>"$STATE/events" >"$STATE/events"
  done
}

# What was refilled or started again says that it waits, and joins by the next record, up to a minute later: all are stopped
# for that. So all save before, each once for each VM, or a program that does not save as it is stopped would do its work again.
save_to_join() {
  local one new=""
  [ ! -e "$HANDING" ] || return 0
  for one in "${ABSENT[@]}"; do
    waits_to_join "$one" || continue
    [[ " $SAVED_TO_JOIN " != *" $REPLY "* ]] || continue
    SAVED_TO_JOIN+=" $REPLY" new+=${new:+, }$one
  done
  [ -n "$new" ] || return 0
  say "$new will join: the program saves, and continues until then"
  ask_for_checkpoint
}

# Whether a node says that it waits to be a member; the id of its VM is in REPLY then.
waits_to_join() {
  local LINE
  describe "${PREFIX}heartbeats/$1" "$STATE/lacking" 20 || return
  LINE=$(<"$STATE/lacking")
  member job && [ "$REPLY" = "$JOB" ] && member status && [ "$REPLY" = waiting ] || return
  member instance_id && [[ $REPLY =~ ^[0-9]+$ ]]
}

# The pause between two looks at the others: 0 at once where the members have changed.
await_look() {
  local due=$((SECONDS + LOOK))
  while [ "$SECONDS" -lt "$due" ]; do
    sleep "$BARRIER_LOOK"
    ! members_changed || return 0
  done
  return 1
}

# The program is stopped, and what it wrote is uploaded, as far as it could be: wait for the others of the next epoch.
leave_epoch() {
  BENDS=1 WAITS=1 ROUND=1
  [ -n "${UNSAVED:-}" ] || SAVED=1
  rm -f "$BEGUN" "$READY" "$TURN_FILE"
  forget_program
}

# What was told of a program that is over must not end the next one.
forget_program() {
  local word more
  while read -r -t 0.05 -u 5 word more; do
    case $word in
      shutdown | preempted) TAKEN=${TAKEN:-$word} ;;
      fenced) FENCED=1 ;;
    esac
  done
}

# Wait to be a member, and then for the others; what the program begins with is restored once all have uploaded theirs.
# 1 where this VM goes, 2 where its output cannot be had.
await_members() {
  local answer entered="" due=0
  [ -n "$WAITS" ] || return 0
  while [ -z "$TAKEN$FENCED" ]; do
    answer=0
    find_membership || answer=$?
    if [ "$answer" = 3 ]; then
      if [ -n "$DROPPED" ]; then go_off "the job goes on without this VM"; else go_away "the job goes on without this VM"; fi
      return 1
    elif [ "$answer" = 0 ] && [ "$(cat "$WORK/epoch" 2>/dev/null)" = "$ATTEMPT $ID" ]; then
      come_back
      return
    elif [ "$answer" = 0 ] && [ -e "$READY" ]; then
      [ "$ATTEMPT" = "$entered" ] || due=0
      [ "$CALLED" = "$ATTEMPT" ] || [ "$SECONDS" -lt "$due" ] || {
        enter_epoch "$entered" && entered=$ATTEMPT due=$((SECONDS + HEARTBEAT))
      }
      [ "$ATTEMPT" != "$entered" ] || ! all_have_come || { begin_epoch && return; return 2; }
    elif [ "$answer" = 1 ] && [ -n "$ALL_SAID" ]; then
      go_away "the setup failed before this VM was a member; it goes"
      return 1
    elif [ "$answer" = 1 ] && [ -e "$READY" ] && [ "$SECONDS" -ge "$due" ]; then
      ! is_given_up || { go_off "the gang goes on without this VM" && return 1; }
      ! beat waiting || due=$((SECONDS + HEARTBEAT))
      ! has_ended || { go_away "the job has ended" && return 1; }
    fi
    # A read that was not answered says nothing, of what this VM has said before neither.
    [ -z "$ALL_SAID" ] || [ "$answer" = 2 ] || return 0
    listen "$BARRIER_LOOK"
  done
}

# A person has started it, so its disk stays.
go_off() {
  say "$1; it shuts down"
  end_loops
  stop_program 2
  : >"$STATE/done"
  trap - TERM
  shutdown -h now
}

# What waits to begin never will.
go_away() {
  say "$1"
  end_loops
  stop_program 2
  leave
}

# enter_epoch LAST: say that this VM has come to the epoch, with all that it has written before in the bucket; and go on
# saying so.
enter_epoch() {
  [ "$1" = "$ATTEMPT" ] || say "attempt $ATTEMPT: member $((RANK + 1)) of $NODES (${MEMBERS[*]})"
  echo "$ATTEMPT" >"$STATE/attempt"
  LOG=$WORK/log/$ATTEMPT.log CURVE=$WORK/log/$ATTEMPT.jsonl OLD_LOG_SIZE=""
  patiently 20 beat joining
}

# Whether all members have: the first one looks at all, the others at the first one, which then says that it runs. Once
# it may have said so, they no longer wait.
all_have_come() {
  local place last=$((RANK == 0 ? NODES - 1 : 0))
  if [ "$CALLED" != "$ATTEMPT" ]; then
    for ((place = RANK == 0; place <= last; place++)); do
      describe "${PREFIX}heartbeats/${MEMBERS[place]}" "$STATE/peer-$place" 20 && has_come "$place" || return 1
    done
  fi
  [ "$RANK" = 0 ] || return 0
  CALLED=$ATTEMPT
  patiently 20 beat
}

has_come() {
  local LINE
  LINE=$(cat "$STATE/peer-$1")
  member job && [ "$REPLY" = "$JOB" ] && member attempt && [ "$REPLY" = "$ATTEMPT" ] && member status || return 1
  [ "$REPLY" != waiting ] || return 1
  if [ "$RANK" = 0 ]; then [ "$REPLY" = joining ]; else [ "$REPLY" != joining ]; fi
}

# A reboot: the others are in this epoch, and have stopped since they saw this VM go.
come_back() {
  WAITS="" EPOCH=$ATTEMPT BENT_TO=$ATTEMPT
  for_ever find_run
  begin_program
}

# All of it is in the bucket by now, the newest of whichever member wrote it.
begin_epoch() {
  [ -z "$SAVED" ] || find "$OUTPUT" -mindepth 1 -delete
  : >"$SENT_LIST"
  echo "$ATTEMPT $ID" >"$WORK/epoch"
  WAITS="" SAVED="" EPOCH=$ATTEMPT BENT_TO=$ATTEMPT
  begin_program
}

begin_program() {
  local answer=0
  for_ever restore_output || answer=$?
  REFUSED=$((answer == 1 ? 66 : 77))
  [ "$answer" = 0 ] || return 2
  write_environment
  write_hostfile
  begin
}

# --- TPUs: what programs on them are told, and what their driver writes. ---

# The newest bytes of each file that the driver has written; the next attempt gets them all back.
TPU_LOG_AT_MOST=1000000

# The machine type says whether this VM has TPUs: ct6e-standard-4t, tpu7x-standard-4t.
has_tpu() {
  value machine-type
  [[ ${REPLY##*/} =~ ^(ct[0-9]+[a-z]*|tpu[0-9]+x)-[a-z]+-[0-9]+t(-tpu)?$ ]]
}

tpu_logs() { REPLY=$WORK/log/tpu-$ATTEMPT; }

# Lines for the program's environment, but for those that its developer has set, in $1. A VM alone is worker 0 of one.
# A part of a slice has an attribute from Google that says which part; the driver reads that itself. Where it has none, its
# place among the nodes is told, as GKE does it: JAX and PyTorch take all of it from there.
tpu_environment() {
  local line lines=(PJRT_DEVICE=TPU)
  has_tpu || return 0
  tpu_logs
  mkdir -p "$REPLY"
  lines+=("TPU_LOG_DIR=$REPLY")
  value tpu-env
  [ -n "$REPLY" ] || tpu_workers
  for line in "${lines[@]}"; do
    [[ $'\n'$1 == *$'\n'${line%%=*}=* ]] || echo "$line"
  done
}

# Adds to `lines` which worker this VM is, and of which.
tpu_workers() {
  local place workers=""
  setting topology
  if [ -z "$REPLY" ] || [ "$NODES" = 1 ]; then
    lines+=(TPU_WORKER_ID=0 TPU_WORKER_HOSTNAMES=localhost)
    return
  fi
  lines+=("TPU_TOPOLOGY=$REPLY" "TPU_WORKER_ID=$RANK")
  for ((place = 0; place < NODES; place++)); do
    peer "$place"
    workers+=${workers:+,}$REPLY
  done
  lines+=("TPU_WORKER_HOSTNAMES=$workers")
}

# What the driver wrote joins the output when the program has ended, not before: a driver that goes on talking while the
# program hangs would pass for progress. What has an older time than its inode is not in the middle of being written.
keep_tpu_logs() {
  local file from to
  has_tpu || return 0
  tpu_logs
  from=$REPLY to=$OUTPUT/logs/libtpu/$NODE-$ATTEMPT
  for file in "$from"/*; do
    [ -s "$file" ] && [ ! -L "$file" ] || continue
    mkdir -p "$to" || return 0
    tail -c "$TPU_LOG_AT_MOST" "$file" >"$to/log.tmp" && touch -r "$file" "$to/log.tmp" && mv -f "$to/log.tmp" "$to/${file##*/}"
  done
  return 0
}

# Google's image for TPUs has no container engine.
install_engine() {
  has_tpu && ! command -v docker >/dev/null && ! command -v podman >/dev/null && command -v apt-get >/dev/null || return 0
  say "installing docker: this image has no container engine"
  { timeout 300 apt-get -qq update && DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qqy install docker.io; } \
    >/dev/null 2>&1 || say "docker couldn't be installed"
}

# --- What a program may import: python/spotwarden_preemption.py. ---

print_module() {
  cat <<'END_OF_MODULE'
"""Tells a training program when to save: its VM will be taken. Needs Python 3.8 and nothing else.

The job kit puts this file where Python finds it; a copy beside your own code works as well. Elsewhere than
on such a VM nothing is asked for until SIGTERM.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

STOP = "stop"
LOOK_SECONDS = 0.05
STOPPED = 143


class Guard:
    """Asks once a step. Of SIGTERM it changes nothing but that the program may end by itself."""

    def __init__(self) -> None:
        """Begin to listen; the signal is only heard where this is called in the main thread."""
        self._told = Path(os.environ.get("SPOTWARDEN_NOTICE") or os.devnull)
        self._answered: object = None
        self._asks = False
        self._stopping = False
        self._before: object = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGTERM, self._stop)

    @property
    def requested(self) -> bool:
        """Whether to save: true once when the VM is told, and once more when the program has to stop."""
        self._asks = True
        asked = STOP if self._must_stop() else self._notice()
        new = asked is not None and asked != self._answered
        if new:
            self._answered = asked
        return new

    @property
    def stopping(self) -> bool:
        """Whether to leave the loop; where `requested` is used, that asks for the last save first."""
        return self._answered == STOP if self._asks else self._must_stop()

    def _must_stop(self) -> bool:
        if not self._stopping and self._notice() is not None:
            self._stopping = self._told.with_name(self._told.name + ".stop").exists()
        return self._stopping

    def _notice(self) -> int | None:
        """When it was told, as the file says; None where it was not."""
        if str(self._told) == os.devnull:
            return None
        try:
            return self._told.stat().st_mtime_ns
        except OSError:
            return None

    def _stop(self, number: int, frame: object) -> None:
        self._stopping = True
        if callable(self._before):
            self._before(number, frame)


def guard() -> Guard:
    """The guard of this program; call it once, in the main thread."""
    return Guard()


def wait_for_turn() -> None:
    """Return once the VM before this one trains no more; call it after imports, before output is touched.

    The job kit starts a program that has called this in the attempt before while the old VM still trains. In
    all other cases it returns at once. `SystemExit` where this VM itself is taken meanwhile.
    """
    turn = os.environ.get("SPOTWARDEN_TURN")
    if not turn:
        return
    Path(turn + ".awaited").touch()
    stop = (os.environ.get("SPOTWARDEN_NOTICE") or turn) + "." + STOP
    while not Path(turn).exists():
        if Path(stop).exists():
            raise SystemExit(STOPPED)
        time.sleep(LOOK_SECONDS)
END_OF_MODULE
}

# --- The developer's program: what it is given, how it is started, how it is asked to end. ---

GPU=/dev/nvidia0 AGENT=/opt/google-cloud-ops-agent

fetch_code() {
  setting code
  [ "$REPLY" = 1 ] || return 0
  get "$HERE/my-code.tar" "$WORK/my-code.tar" || return
  tar -xf "$WORK/my-code.tar" -C "$CODE" || return 4
}

# Each line of `spotwarden-inputs`: gs://BUCKET/NAME PATH. A NAME that is no object stands for all below it.
fetch_inputs() {
  local line
  setting inputs
  while read -r line; do
    [ -z "$line" ] || fetch_input "$line" || return
  done <<<"$REPLY"
}

fetch_input() {
  local from=${1%%[[:space:]]*} path=${1#*[[:space:]]} answer=0 BUCKET
  path=${path#"${path%%[![:space:]]*}"}
  BUCKET=${from#gs://}
  local name=${BUCKET#*/}
  BUCKET=${BUCKET%%/*}
  if [[ $from != gs://*/* ]] || ! inside "${path%/}"; then
    say "invalid input: $1; write gs://BUCKET/NAME PATH"
    return 4
  fi
  mkdir -p "$(dirname "$INPUT/$path")"
  if [[ $name != */ ]]; then
    get "$name" "$INPUT/$path" || answer=$?
    [ "$answer" = 1 ] || return "$answer"
  fi
  list "${name%/}/" "$STATE/inputs" || return
  if [ ! -s "$STATE/inputs" ]; then
    say "missing input: $from"
    return 1
  fi
  mkdir -p "$INPUT/$path"
  fetch_listed "${name%/}/" "$INPUT/${path%/}" "$STATE/inputs"
}

# The lines NAME=VALUE that the program gets: what we tell, then what its developer set.
write_environment() {
  local line
  mkdir -p "$WORK/python"
  print_module >"$WORK/python/spotwarden_preemption.py"
  {
    cat <<END
SPOTWARDEN_JOB=$JOB
SPOTWARDEN_NODE=$NODE
SPOTWARDEN_ATTEMPT=$ATTEMPT
SPOTWARDEN_OUTPUT=$OUTPUT
SPOTWARDEN_INPUT=$INPUT
SPOTWARDEN_PROGRESS=$PROGRESS
SPOTWARDEN_NOTICE=$NOTICE_FILE
SPOTWARDEN_TURN=$TURN_FILE
SPOTWARDEN_PYTHON=$WORK/python
NODE_RANK=$RANK
NNODES=$NODES
NODES=$NODES
WORLD_SIZE=$NODES
MASTER_ADDR=$MASTER
MASTER_PORT=$PORT
SPOTWARDEN_HOSTFILE=$HOSTFILE
END
    # Whoever joins the others without torchrun or MPI needs this one, too.
    [ "$NODES" = 1 ] || echo "RANK=$RANK"
    setting env
    # Python keeps what it prints to a pipe for itself, 8 kB of it, and loses that when it is killed.
    [[ $'\n'$REPLY == *$'\n'PYTHONUNBUFFERED=* ]] || echo PYTHONUNBUFFERED=1
    tpu_environment "$REPLY"
    setting env
    while IFS= read -r line; do
      if [[ $line =~ ^[A-Za-z_][A-Za-z0-9_]*= ]]; then
        printf '%s\n' "$line"
      elif [ -n "$line" ]; then
        say "invalid environment variable: ${line%%=*}; write NAME=VALUE" >&2
      fi
    done <<<"$REPLY"
  } >"$STATE/environment"
}

# What is run, as the words of `RUN`: the command by bash, or the container that it runs in.
choose_command() {
  local command flags=()
  setting command
  command=$REPLY
  setting container
  IMAGE=$REPLY
  if [ -z "$IMAGE" ]; then
    RUN=(bash -c "$command")
    line_by_line && RUN=(stdbuf -oL "${RUN[@]}")
    return 0
  fi
  install_engine
  find_engine || return
  log_in "${IMAGE%%/*}"
  setting container-flags
  eval "flags=($REPLY)"
  [ -e "$GPU" ] && flags=(--gpus all "${flags[@]}")
  has_tpu && flags=(--privileged "${flags[@]}")
  RUN=("$ENGINE" run --rm --name "spotwarden-$NODE" --network host --env-file "$STATE/environment" -v "$WORK:$WORK" -w "$CODE"
    "${flags[@]}" "$IMAGE")
  [ -z "$command" ] || RUN+=(sh -c "$command")
}

# Whether programs that print by the C library can be made to print each line at once, and nothing else changes: by
# stdbuf, which preloads a library. A terminal would do more: bars of progress, colours, other ends of lines. Whoever
# sets stdbuf's own variable has decided.
line_by_line() {
  setting env
  [[ $'\n'$REPLY != *$'\n'_STDBUF_O=* ]] || return
  command -v stdbuf >/dev/null && REPLY=$(stdbuf -oL env 2>&1) && [[ $REPLY == *_STDBUF_O=L* && $REPLY != *"cannot be preloaded"* ]]
}

# An engine that works; it may be starting itself.
find_engine() {
  local one try
  number engine-wait 30
  for ((try = REPLY; try >= 0; try -= 2)); do
    for one in docker podman; do
      ENGINE=$one
      command -v "$one" >/dev/null && timeout 20 "$one" info >/dev/null 2>&1 && return
    done
    ENGINE=""
    command -v docker >/dev/null || command -v podman >/dev/null || break
    [ "$try" -lt 2 ] || sleep 2
  done
  say "the job needs a container, but no container engine works in this image; use one with docker, such as Container-Optimized OS"
  return 1
}

# Google's registries take the VM's own token.
log_in() {
  case $1 in
    *-docker.pkg.dev | gcr.io | *.gcr.io) ;;
    *) return 0 ;;
  esac
  authorize
  sed 's/^Authorization: Bearer //' "$STATE/token" |
    "$ENGINE" login --username oauth2accesstoken --password-stdin "https://$1" >/dev/null 2>&1 ||
    say "$1 denies access to this VM's service account"
}

# Without the agent nobody knows whether the GPUs work or idle.
hint_at_agent() {
  [ ! -e "$GPU" ] || [ -d "$AGENT" ] ||
    say "GPUs are not measured: this VM has no Ops Agent. To add it, see Google's \"Install the Ops Agent\""
}

# Start the program in a process group of its own. What it prints goes through a pipe to the log and to the console: a
# full disk then ends the log, not the program.
start_program() {
  ALL_SAID="" WHOLE_AFTER=""
  rm -f "$STATE/printed" "$PROGRESS" "$NOTICE_FILE" "$NOTICE_FILE.stop"
  mkfifo "$STATE/printed"
  # Under which number a member that waits will begin is not known yet.
  SPOKEN=$LOG
  [ -z "${WAITS:-}" ] || { SPOKEN=$WORK/log/waiting && : >"$SPOKEN"; }
  tee -a "$SPOKEN" <"$STATE/printed" 2>/dev/null &
  TEE=$!
  set -m
  run_program >"$STATE/printed" 2>&1 </dev/null &
  PROGRAM=$!
  set +m
}

run_program() {
  local line status
  exec 5>&-
  # The group gets the signal, this shell with it: it stays, to tell how the program ended.
  trap : TERM
  trap - PIPE
  cd "$CODE" || exit 126
  while IFS= read -r line; do
    export "${line?}"
  done <"$STATE/environment"
  export HOME=${HOME:-/root}
  # An image may have a path of its own, so in a container the command says it.
  [ -n "$IMAGE" ] || export PYTHONPATH=${PYTHONPATH:+$PYTHONPATH:}$WORK/python
  [ -e "$STATE/set-up" ] || set_up
  : >"$READY"
  if await_begin "$STATE/standby"; then
    "${RUN[@]}"
    status=$?
    [ ! -e "$STATE/kept" ] || end_program "$status"
    rm -f "$STATE/started"
    await_begin
  fi
  # Who the members of a gang that bends are is known only now.
  while IFS= read -r line; do
    export "${line?}"
  done <"$STATE/environment"
  "${RUN[@]}"
  end_program $?
}

# Once a boot: where the program runs again in place, the others of a gang wait for it.
set_up() {
  local status
  setting setup
  if [ -n "$REPLY" ]; then
    bash -c "$REPLY" || {
      status=$?
      say "the setup failed with status $status: $REPLY"
      end_program "$status"
    }
  fi
  [ -z "$IMAGE" ] || [ -e "$BEGUN" ] || "$ENGINE" pull -q "$IMAGE" >/dev/null 2>&1
  : >"$STATE/set-up"
}

# Until there is nobody any more who writes what it begins with; 0 where this file was there before, and could be taken.
await_begin() {
  until [ -e "$BEGUN" ]; do
    [ ! -e "$NOTICE_FILE.stop" ] || end_program 143
    [ ! -e "${1:-$BEGUN}" ] || ! mv "$1" "$STATE/started" 2>/dev/null || return 0
    sleep 0.1
  done
  return 1
}

end_program() {
  echo "ended $1" 1<>"$STATE/events" >"$STATE/events"
  exit "$1"
}

program_runs() { kill -0 "$PROGRAM" 2>/dev/null; }

# Whether anything of it runs: of `cd src && python3 train.py` bash ends at the signal, and the training has yet to write
# its checkpoint. What has ended, and nobody has waited for, does not count.
group_runs() {
  local file line
  kill -0 -- "-$PROGRAM" 2>/dev/null || return
  for file in /proc/[0-9]*/stat; do
    { IFS= read -r line <"$file"; } 2>/dev/null || continue
    [[ ${line##*) } =~ ^[^ZX]\ [0-9]+\ $PROGRAM\  ]] && return
  done
  return 1
}

# Ask it to end, and make it end when that has taken too long. Its status is in ENDED; KILLED is when it had to be.
# Whoever ended in time was not in the middle of what it wrote after the signal, in WHOLE_AFTER.
stop_program() {
  local wait=$1 end=$((SECONDS + $1))
  KILLED=""
  if program_runs; then
    : >"$NOTICE_FILE.stop"
    kill -TERM -- "-$PROGRAM" 2>/dev/null
    sleep 0.05
    : >"$STATE/asked-to-end"
    WHOLE_AFTER=$(find "$STATE/asked-to-end" -printf '%T@')
    while group_runs && [ "$SECONDS" -lt "$end" ]; do
      listen 0.2
    done
  fi
  if [ -n "$WHOLE_AFTER" ] && group_runs; then
    say "the program did not end within $wait s of SIGTERM and is killed"
    now
    KILLED=$REPLY WHOLE_AFTER=""
    [ -z "${ENGINE:-}" ] || timeout 5 "$ENGINE" kill "spotwarden-$NODE" >/dev/null 2>&1
  fi
  kill -KILL -- "-$PROGRAM" 2>/dev/null
  wait "$PROGRAM" 2>/dev/null
  ENDED=$?
  # The last that it has said.
  end=$((SECONDS + 2))
  while kill -0 "$TEE" 2>/dev/null && [ "$SECONDS" -lt "$end" ]; do
    listen 0.05
  done
}

# --- The hand-over: a program that is told some minutes before trains on until its successor waits for it. ---

# There while this VM hands over; every process of the kit looks at it. So is what lets the program begin.
HANDING=$STATE/handing-over BEGUN=$STATE/begun
# Seconds after the end of the notice at which a successor begins by itself.
HANDOVER_MARGIN=60
# Seconds that a VM waits for a predecessor that nothing takes: it may have died just then.
MOVE_WAIT=600
PREDECESSOR="" STANDBY="" NOTICED=0

# --- The VM that will be taken. ---

# Whether it was told beforehand, and nobody has pressed the power button yet.
hands_over() {
  setting early
  [[ $TAKEN == preempted || $TAKEN == moved ]] && [ -n "${REPLY#0}" ] && [ ! -e "$STATE/shutdown" ]
}

# Call the successor, or the other nodes of a gang, and train on until just enough of the notice is left to stop and to upload
# what is new. 1 where a gang goes on, since the notice is no longer so.
use_notice() {
  local most again="" look=0
  NOTICED=$SECONDS
  number reserve 30
  most=$((NOTICE_SECONDS - REPLY))
  # The others wait for a member that waits for them: it says at once that it does not come.
  [ -z "$WAITS" ] || most=0
  : >"$HANDING"
  say "this VM will be $TAKEN in $NOTICE_SECONDS s; the program continues for $((most > 0 ? most : 0)) s more"
  ask_for_checkpoint
  [ "$TAKEN" = moved ] || loop announce
  [ "$NODES" = 1 ] || again=$((NOTICED + NOTICE_SECONDS / 2)) look=$((SECONDS + TOLD_LOOK))
  while [ -z "$ALL_SAID$FENCED$PEERS_SAY" ] && [ ! -e "$STATE/shutdown" ] && [ $((SECONDS - NOTICED)) -lt "$most" ] && program_runs; do
    listen 1
    [ "$NODES" != 1 ] || continue
    if [ "$SECONDS" -ge "$look" ]; then
      look=$((SECONDS + TOLD_LOOK))
      ! is_called_off || return 1
    fi
    if [ -n "$again" ] && [ "$SECONDS" -ge "$again" ]; then
      again=""
      ask_for_checkpoint
    fi
  done
  return 0
}

# Whether Compute Engine no longer says that it takes this VM; then all is as before it said so. Recovery clears the marker.
is_called_off() {
  preempted 5
  [ $? = 1 ] || return
  say "the preemption is called off: the program continues"
  forget_notice
}

forget_notice() {
  rm -f "$HANDING" "$STATE/announced" "$NOTICE_FILE" "$NOTICE_FILE.stop"
  TAKEN=""
  loop watch_preemption
}

# Whether this job may be moved while it runs, and the program has begun here.
may_move() {
  setting early
  [ "$NODES" = 1 ] && [ -n "${REPLY#0}" ] && [ -e "$BEGUN" ]
}

# Nothing else may be written for minutes: a move is looked for by itself.
watch_moves() {
  while sleep "$MOVE_PERIOD"; do
    may_write
  done
}
MOVE_PERIOD=30

# Whether a record, in REPLY, is that of a move of this VM's job: until it runs elsewhere, the program goes on here.
planned_move() { replaced_early && [[ $REPLY =~ \"planned\":\"[^\"] ]]; }

# Whether a record, in REPLY, is that of a move; once the VM that the job moves to is there, that is told.
note_move() {
  planned_move || return
  [[ $REPLY == *'"state":"running"'* ]] && [ ! -e "$STATE/moved" ] || return 0
  : >"$STATE/moved"
  echo moved 1<>"$STATE/events" >"$STATE/events"
}

# Whether the job has moved away from this VM: nothing else takes it.
has_moved() {
  local file=$STATE/next.$BASHPID
  get "$HERE/metadata/attempts/$NEXT.json" "$file" 20 || return
  read_record "$file"
  planned_move && [[ $REPLY == *'"state":"running"'* ]]
}

announce() {
  may_write 3
  [ $? != 1 ] || return
  patiently 20 write_marker early || return
  : >"$STATE/announced"
  say "the early marker is written"
}

# Ask the program for a checkpoint in the way that it knows; it goes on afterwards. A file says it in any case.
ask_for_checkpoint() {
  : >"$NOTICE_FILE"
  setting checkpoint
  case ${REPLY:=SIGUSR1} in
    none) ;;
    file:*) (cd "$CODE" && touch -- "${REPLY#file:}") || say "couldn't request the checkpoint by $REPLY" ;;
    command:*)
      # What a loop begins ends with it.
      if [ "$BASHPID" = "$$" ]; then loop run_checkpoint_command "${REPLY#command:}"; else run_checkpoint_command "${REPLY#command:}" & fi
      ;;
    *) signal_catchers "$REPLY" ;;
  esac
}

run_checkpoint_command() {
  local line
  while IFS= read -r line; do
    export "${line?}"
  done <"$STATE/environment"
  cd "$CODE" && bash -c "$1"
  say "the command that asks for a checkpoint ended with status $?"
}

# Signal the processes of the program that catch this signal: all others would die of it.
signal_catchers() {
  local name=${1#SIG} code pid count=0 inner=""
  code=$(kill -l "$name" 2>/dev/null)
  [[ $name =~ ^[0-9]+$ ]] && code=$name
  if [[ ! $code =~ ^[0-9]+$ ]]; then
    say "spotwarden-checkpoint: $1 is not a valid signal; write SIGUSR1, file:PATH, command:LINE or none"
    return
  fi
  [ -z "${ENGINE:-}" ] || inner=$(timeout 5 "$ENGINE" inspect -f '{{.State.Pid}}' "spotwarden-$NODE" 2>/dev/null)
  find_tree "$PROGRAM" ${inner:+"$inner"}
  for pid in "${TREE[@]}"; do
    catches "$pid" "$code" && kill -s "$code" "$pid" 2>/dev/null && count=$((count + 1))
  done
  say "asked for a checkpoint: $count processes catch $1"
}

# These processes and all below them, in TREE: what starts a session of its own is no longer in the program's group.
find_tree() {
  local file line place
  local -A below=()
  for file in /proc/[0-9]*/stat; do
    { IFS= read -r line <"$file"; } 2>/dev/null || continue
    [[ ${line##*) } =~ ^[A-Z]\ ([0-9]+)\  ]] && below[${BASH_REMATCH[1]}]+=" ${line%% *}"
  done
  TREE=("$@")
  for ((place = 0; place < ${#TREE[@]}; place++)); do
    # shellcheck disable=SC2206 # numbers
    TREE+=(${below[${TREE[place]}]:-})
  done
}

# Whether a process has a handler for the signal of this number (proc_pid_status(5): SigCgt). Bash has one for each signal
# that would end it, and then ends: what it runs has to be asked in another way.
catches() {
  local line program
  program=$(readlink "/proc/$1/exe" 2>/dev/null)
  [ "${program##*/}" != bash ] || return 1
  while IFS= read -r line; do
    [[ $line =~ ^SigCgt:[[:space:]]*([0-9a-f]+)$ ]] && return $(((16#${BASH_REMATCH[1]} >> ($2 - 1) & 1) == 0))
  done < <(cat "/proc/$1/status" 2>/dev/null)
  return 1
}

# What the newest heartbeat of this node says: BEAT_ATTEMPT, BEAT_ID, BEAT_STATUS, BEAT_STANDBY and its BEAT_GENERATION, 0
# for none.
find_beat() {
  local LINE file=$STATE/found-beat.$BASHPID answer=0
  BEAT_ATTEMPT=0 BEAT_ID="" BEAT_STATUS="" BEAT_STANDBY="" BEAT_GENERATION=0
  describe "${PREFIX}heartbeats/$NODE" "$file" "${1:-20}" || answer=$?
  [ "$answer" != 1 ] || return 0
  [ "$answer" = 0 ] || return 2
  described "$file" '[gG]eneration' || return 2
  BEAT_GENERATION=$REPLY LINE=$(<"$file")
  # A VM of the same name elsewhere may be another job's.
  member job && [ "$REPLY" = "$JOB" ] || return 0
  member attempt && [[ $REPLY =~ ^[0-9]{1,9}$ ]] && BEAT_ATTEMPT=$((10#$REPLY))
  member instance_id && BEAT_ID=$REPLY
  member status && BEAT_STATUS=$REPLY
  member standby && BEAT_STANDBY=$REPLY
  return 0
}

# Whether the next attempt, whose record is in REPLY, is our successor and has not begun: 0 yes, 1 no, 2 not known.
successor_waits() {
  local file=$STATE/after.$BASHPID
  replaced_early || return 1
  get "$HERE/metadata/attempts/$((NEXT + 1)).json" "$file" "$1"
  case $? in
    0) return 1 ;;
    1) ;;
    *) return 2 ;;
  esac
  find_beat "$1" || return
  [ "$BEAT_ATTEMPT" -le "$ATTEMPT" ]
}

# Whether a record, in REPLY, stands in for this VM while it still runs.
replaced_early() { [[ $REPLY =~ \"replaces\":\{[^}]*\"$ID\" && $REPLY == *'"early":true'* ]]; }

# The last heartbeat: from here on the successor may begin. Over the heartbeat that was read, so that of the two, this one
# and that of a successor that waits no longer, there is only one.
tell_handed_over() {
  find_beat || return
  [ "$BEAT_ATTEMPT" -le "$ATTEMPT" ] || fence || return
  BEAT_OVER=$BEAT_GENERATION beat handed-over
  case $? in
    3) return 2 ;;
    *) return ;;
  esac
}

# All is handed over, and nothing has taken this VM. Where a successor runs it goes by itself; 0 where there is none, and
# Compute Engine no longer says that it will be taken.
outlives_notice() {
  local due=$((NOTICED + NOTICE_SECONDS + HANDOVER_MARGIN)) file=$STATE/next.$BASHPID
  trap 'exit 0' TERM
  while [ ! -e "$STATE/shutdown" ]; do
    sleep $((HEARTBEAT < 5 ? HEARTBEAT : 5))
    [ "${NODES:-1}" -gt 1 ] || [ "$SECONDS" -ge "$due" ] || continue
    get "$HERE/metadata/attempts/$NEXT.json" "$file" 20
    case $? in
      0)
        if goes_on_without_me "$file"; then
          preempted 5
          [ $? != 1 ] || break
          continue
        fi
        successor_runs || continue
        say "this VM was not preempted, and its successor runs"
        leave
        return 1
        ;;
      # Longer than recovery believes an early marker, so that nothing is begun beside this one. Beside a gang nothing is.
      1) { [ "${NODES:-1}" = 1 ] && [ "$SECONDS" -lt $((due + UNBELIEVED)) ]; } || preempted 5 || [ $? != 1 ] || break ;;
    esac
  done
  trap 'TAKEN=${TAKEN:-shutdown}' TERM
  [ ! -e "$STATE/shutdown" ]
}
UNBELIEVED=300

# Whether another VM is registered as this node, or has begun.
successor_runs() {
  get "$REGISTRATION" "$STATE/seen" 20 || return
  REPLY=$(<"$STATE/seen")
  [ "${REPLY//[[:space:]]/}" != "$ID" ]
}

# The notice came to nothing: the program runs once more, from what it has written.
take_back() {
  say "this VM was not preempted and has no successor: the program runs again"
  rm -f "$STATE/done"
  forget_notice
}

# The others have stopped as well: the first node has all run the program again. Those of a gang that bends may go on
# already: then this node waits to be one of them again. Fails where there is nothing to run.
return_to_gang() {
  local file=$STATE/next.$BASHPID
  if [ -n "$WAITS" ] || { get "$HERE/metadata/attempts/$NEXT.json" "$file" 20 && goes_on_without_me "$file"; }; then
    leave_epoch
    FENCED="" && rm -f "$STATE/fenced"
    return
  fi
  # It has not handed over any more.
  patiently 20 write_marker early
  STOPPED=1 PEERS_SAY=lost
  finish_gang || return
  end_loops
  loop watch_preemption
  PEERS_SAY=""
}

# --- The VM that comes after it. ---

# The VM that still ran when this attempt was claimed, in PREDECESSOR, and until when it may: "" where nobody is waited for.
find_predecessor() {
  local file=$STATE/record.$BASHPID record created
  PREDECESSOR=""
  [ "$NODES" = 1 ] || return 0
  get "$HERE/metadata/attempts/$ATTEMPT.json" "$file" 20
  case $? in
    0) ;;
    1) return 0 ;;
    *) return 2 ;;
  esac
  read_record "$file"
  record=$REPLY
  [[ $record == *'"early":true'* && $record =~ \"replaces\":\{[^}]*\"$NODE\":\"([0-9]+)\" ]] || return 0
  [ "${BASH_REMATCH[1]}" != "$ID" ] || return 0
  PREDECESSOR=${BASH_REMATCH[1]}
  now
  [[ $record =~ \"created\":\"([^\"]+)\" ]] && created=$(date -d "${BASH_REMATCH[1]}" +%s 2>/dev/null)
  # By the clock, and by the time since then on this VM, whatever its clock says.
  BEGIN_AT=$((${created:-$REPLY} + NOTICE_SECONDS + HANDOVER_MARGIN))
  BEGIN_AFTER=$((SECONDS + NOTICE_SECONDS + HANDOVER_MARGIN))
  if [[ $record =~ \"planned\":\"[^\"] ]]; then
    # Nothing takes the predecessor: it hands over once it has seen that this VM is there.
    BEGIN_AT=9999999999 BEGIN_AFTER=$((SECONDS + MOVE_WAIT))
  fi
  say "instance $PREDECESSOR still runs: the program starts once it has handed over"
}

# From here on the program may read and write its output.
begin() { : >"$BEGUN" && : >"$TURN_FILE"; }

# Its setup runs meanwhile, and a program that waits for its turn. Fails where the output cannot be restored.
await_predecessor() {
  local answer=0
  while [ -n "$PREDECESSOR" ] && [ -z "$ALL_SAID$TAKEN$FENCED" ]; do
    if predecessor_is_done; then
      PREDECESSOR=""
      keep_standby
      for_ever restore_output || answer=$?
      REFUSED=$((answer == 1 ? 66 : 77))
      [ "$answer" = 0 ] || return 1
      break
    fi
    listen 1
  done
  [ -n "$PREDECESSOR$WAITS" ] || begin
}

# The program on the old VM knows how to wait for its turn: here it starts already, since its imports may take longest.
stand_by() {
  [ -z "$STANDBY" ] || return 0
  STANDBY=1
  say "the program starts early, and waits until it may continue"
  : >"$STATE/standby"
}

# The one that has started before its turn goes on if it waits, and has written nothing; any other starts again, for it may
# have looked for a checkpoint before there was one.
keep_standby() {
  local pid
  if [ -z "$STANDBY" ] || mv "$STATE/standby" "$STATE/not-started" 2>/dev/null; then
    return 0
  fi
  if [ -e "$TURN_FILE.awaited" ] && [ -z "$(find "$OUTPUT/" ! -type d -print -quit)" ]; then
    : >"$STATE/kept"
    return 0
  fi
  say "the program hasn't reached its wait, or has written output: it is restarted"
  # Until the shell around it has seen its end: a moment ago it may not have been there to be killed.
  while [ -e "$STATE/started" ] && program_runs; do
    [ -z "${ENGINE:-}" ] || timeout 5 "$ENGINE" kill "spotwarden-$NODE" >/dev/null 2>&1
    find_tree "$PROGRAM"
    for pid in "${TREE[@]:1}"; do
      kill -KILL "$pid" 2>/dev/null
    done
    sleep 0.1
  done
}

# Whether it writes nothing more: it has said so, or its time is over, and then it learns that this one has begun.
predecessor_is_done() {
  find_beat || return
  [ "$BEAT_ATTEMPT" -lt "$ATTEMPT" ] || return 0
  if [ "$BEAT_ID" = "$PREDECESSOR" ]; then
    if [ -n "$BEAT_STATUS" ] && [ "$BEAT_STATUS" != running ]; then
      say "instance $PREDECESSOR has handed over"
      return 0
    fi
    [ -z "$BEAT_STANDBY" ] || stand_by
  fi
  now
  [ "$REPLY" -ge "$BEGIN_AT" ] || [ "$SECONDS" -ge "$BEGIN_AFTER" ] || return 2
  BEAT_OVER=$BEAT_GENERATION beat || return 2
  say "instance $PREDECESSOR has not handed over in time; the program starts with what is in the bucket"
}

# --- While the program runs: what happens to it, and what is told of it. ---

# What happens is told by a word in a pipe: ended, shutdown, preempted, fenced, peers.
TAKEN="" FENCED="" PEERS_SAY="" PROGRAM="" ALL_SAID="" LOOPS=() HALF=""

# For so many seconds at most. A word that comes as they end is read by halves, and bash gives out the first one.
listen() {
  local line
  IFS= read -r -t "$1" -u 5 line || { HALF+=$line && return 0; }
  line=$HALF$line HALF=""
  case ${line%% *} in
    ended) ALL_SAID=1 ;;
    shutdown | preempted | moved) TAKEN=${TAKEN:-$line} ;;
    fenced) FENCED=1 ;;
    peers) PEERS_SAY=${line#peers } ;;
  esac
}

# A background loop in a process group of its own, so that it ends with all that it has started.
loop() {
  set -m
  "$@" 5>&- </dev/null &
  LOOPS+=($!)
  set +m
}

end_loops() {
  local one
  for one in "${LOOPS[@]}"; do
    kill -KILL -- "-$one" 2>/dev/null
    wait "$one" 2>/dev/null
  done
  LOOPS=()
}

watch_preemption() {
  while true; do
    if preempted 5; then
      echo preempted >"$STATE/events"
      return
    fi
    ask "instance/preempted?wait_for_change=true&timeout_sec=60" 70 || sleep 2
  done
}

# The heartbeat at its period, whatever the program does; what it measures is looked at more often.
send_beats() {
  local due=0 waits=""
  while true; do
    # That the program waits for its turn is told as soon as it is known: its successor may be called at any moment.
    [ -n "$waits" ] || [ ! -e "$TURN_FILE.awaited" ] || due=0 waits=1
    if [ "$SECONDS" -lt "$due" ]; then
      look_at_progress
    elif beat; then
      due=$((SECONDS + HEARTBEAT))
    fi
    keep_figures
    sleep "$PERIOD"
  done
}

# The log whenever it has grown. Each upload is a write of the whole: the first comes within seconds, and those that
# follow each other each wait twice as long as the one before, up to the period. After a silence a line goes up at once.
send_log() {
  local due=0 pause=$LOG_PERIOD size
  while sleep "$LOG_PERIOD"; do
    size=$(exec stat -Lc %s "$LOG" 2>/dev/null)
    if [ "$SECONDS" -ge "$due" ] && [ "${size:-0}" != "${OLD_LOG_SIZE:-0}" ] && may_write; then
      upload_log
      due=$((SECONDS + pause)) pause=$((2 * pause < PERIOD ? 2 * pause : PERIOD))
    fi
  done
}

# Where nothing has changed nobody is asked whether this VM may still write.
send_output() {
  local try ASKS=1
  while pause_sync; do
    for try in 1 2 3; do
      upload_output 86400
      [ "${WAITING:-0}" = 1 ] && [ "$try" -lt 3 ] || break
      sleep 2
    done
  done
}

# The pause between two looks at the output; while this VM, or another one of its gang, is being taken, whatever is new goes
# up at once.
pause_sync() {
  local due=$((SECONDS + SYNC))
  sleep 1
  while [ "$SECONDS" -lt "$due" ] && [ ! -e "$HANDING" ] && [ ! -e "$HURRY" ]; do
    sleep "$LOG_PERIOD"
  done
}

# Run the program, as often as the others of a gang come back, until there is something to end with.
live() {
  EPOCH=$ATTEMPT
  while true; do
    : >"$STATE/running"
    rm -f "$STATE/progress-at"
    start_program
    [ -n "$WAITS" ] || loop send_log
    begin_with_members || return
    await_predecessor || { refuse_start && return; }
    [ ! -e "$BEGUN" ] || { loop send_beats && loop send_output; }
    [ "$NODES" = 1 ] || loop watch_peers
    ! may_move || loop watch_moves
    [ "$NODES$BENDS" = 1 ] || loop watch_members
    if wait_for_end && [ -z "$FENCED" ]; then
      hand_over
      [ -e "$HANDING" ] && outlives_notice || return
      take_back
      [ "$NODES" = 1 ] || return_to_gang || return
      continue
    fi
    if [ -n "$FENCED" ]; then
      ! give_way || return
      continue
    fi
    STOPPED=${PEERS_SAY:+1}
    end_loops
    stop_program "$GRACE"
    keep_tpu_logs
    if [ "$NODES$BENDS" = 1 ]; then
      finish "$ENDED"
      return
    fi
    loop watch_preemption
    finish_gang || return
    end_loops
    loop watch_preemption
    PEERS_SAY=""
  done
}

# Until something ends the program here: 0 where the VM is taken, and its notice is used up.
wait_for_end() {
  while true; do
    while [ -z "$ALL_SAID$TAKEN$FENCED$PEERS_SAY" ] && program_runs; do
      listen 1
    done
    taken_meanwhile || return
    ! hands_over || use_notice || continue
    return 0
  done
}

# A member of a gang that bends begins with the others. Its log goes up from then on, under the number of their attempt.
begin_with_members() {
  local answer=0
  [ -n "$WAITS" ] || return 0
  await_members || answer=$?
  [ "$answer" != 1 ] || return 1
  name_log
  if [ "$answer" = 2 ]; then
    refuse_start
    return 1
  fi
  loop send_log
}

# What a member has printed since it waits becomes the log of the attempt that it begins with, behind what it printed in
# that before its VM was restarted. The file stays the one that is written to.
name_log() {
  LOG=$WORK/log/$ATTEMPT.log CURVE=$WORK/log/$ATTEMPT.jsonl OLD_LOG_SIZE=""
  [ "$SPOKEN" != "$LOG" ] || return 0
  if [ -s "$LOG" ]; then
    cat "$LOG" "$SPOKEN" >"$LOG.whole" && cat "$LOG.whole" >"$SPOKEN"
    rm -f "$LOG.whole"
  fi
  mv -f "$SPOKEN" "$LOG" && SPOKEN=$LOG
}

# What it begins with cannot be had.
refuse_start() {
  stop_program 2
  end_loops
  say "failed, and won't be tried again: restore_output${STATUS:+ (status $STATUS)}"
  finish "$REFUSED"
}

# A program that ends while its VM is taken has not ended by itself, whoever told it.
taken_meanwhile() {
  [ -n "$TAKEN" ] && return
  [ ! -e "$STATE/shutdown" ] || TAKEN=shutdown
  [ -z "$ALL_SAID" ] || ! preempted 3 || TAKEN=${TAKEN:-preempted}
  [ -n "$TAKEN" ]
}

# Up to which moment what was written is whole: a program that was killed may have been writing.
whole_until() {
  now
  [ "$ENDED" -lt 128 ] && [ -z "$KILLED" ] && REPLY=9999999999
  # Of a program that we killed it is then, however long it took to hear its last.
  REPLY=$((${KILLED:-$REPLY} - 2))
}

# Another VM goes on with the job. What this one has trained since then is lost. 1 where a gang that bends went on without
# it since it was told of its end, which did not come: then it waits to join.
give_way() {
  end_loops
  stop_program 2
  say "the program was stopped: a newer attempt has taken over the job"
  if wants_me_back; then
    UNSAVED=""
    leave_epoch
    FENCED="" && rm -f "$STATE/fenced"
    loop watch_preemption
    return 1
  fi
  if has_moved || [ -n "$BENDS" ]; then
    # The name of a node that is no member is free for the one that takes its place.
    leave
  fi
}

# The VM is being taken, or shut down: some seconds for the program, the rest for what it wrote.
hand_over() {
  local end=$((SECONDS + 25)) answer=0 early whole
  setting early
  early=${REPLY#0}
  if [ -e "$HANDING" ] && [ ! -e "$STATE/shutdown" ]; then
    # The power button comes once the notice is over, and thirty seconds later the end.
    end=$((NOTICED + NOTICE_SECONDS + 20 > end ? NOTICED + NOTICE_SECONDS + 20 : end))
  fi
  end_loops
  say "this VM will be ${TAKEN/shutdown/shut down}: the program gets $GRACE s"
  stop_program "$GRACE"
  keep_tpu_logs
  whole_until
  whole=$REPLY
  if may_write 3 || [ $? = 2 ]; then
    # What it said comes first: it is small, and the output may take all the time that there is.
    OLD_LOG_SIZE=""
    upload_log 5
    [ ! -e "$BEGUN" ] || upload_last "$end" "$whole" || answer=$?
    say "output: ${UPLOADED:-0} changed files, $([ "$answer" = 0 ] && echo "all uploaded" || echo "not all uploaded")"
    # Then it stays, with what it has.
    [ "$answer" = 0 ] || UNSAVED=2
    if [ "$TAKEN" = preempted ] && [ -n "$early" ] && [ ! -e "$STATE/shutdown" ] && [ ! -e "$STATE/announced" ]; then
      patiently 20 write_marker early && say "the early marker is written"
    fi
    [ "$SECONDS" -ge "$end" ] || say_last
    [ "${NODES:-1}" = 1 ] || [ ! -e "$HANDING" ] || [ "$TAKEN" != preempted ] || tell_recovery
  fi
  : >"$STATE/done"
}

# Those of a gang that bends go on without this node as soon as recovery knows that it has stopped.
tell_recovery() { patiently 20 write_marker handed-over; }

# upload_last END WHOLE: the output, as often as there is time for: an object takes one write a second, and its newest
# version may have gone up a moment ago.
upload_last() {
  local answer
  while true; do
    upload_output $(($1 - SECONDS)) "$2" "" newest
    answer=$?
    # 4: a name that no object can have, which no second try changes.
    case $answer in 0 | 4) return "$answer" ;; esac
    [ $((SECONDS + 3)) -lt "$1" ] || return "$answer"
    sleep 1
  done
}

# The last heartbeat. One that has waited for its predecessor, and never begun, leaves that one's as it is.
say_last() {
  [ -e "$BEGUN" ] || return 0
  if [ ! -e "$HANDING" ]; then
    tell_end stopped
    return
  fi
  patiently 10 tell_handed_over && say "handed over"
  keep_figures
  # The one before may have come within a second of another write, which is refused.
  log_is_sent || { sleep 1 && upload_log; }
}

# --- The end: the output, the status, the VM, in this order. ---

# The program has ended by itself: its output, then the status, then the VM goes. Never the status before the output.
finish() {
  local status=$1 answer=0
  say "the program ended with status $status"
  save_output || answer=$?
  [ "$answer" = 1 ] && return
  tell_end "$status"
  write_status "$status" && leave
}

# Upload what is left. 1 where a newer attempt has taken over; where it cannot be done UNSAVED says so: 2 for now, 4 for good.
save_output() {
  local answer=0
  UNSAVED=""
  [ -n "$PROGRAM" ] || return 0
  whole_until
  WHOLE=$REPLY
  patiently "$PATIENCE" save_once || answer=$?
  if [ "$answer" -gt 1 ]; then
    UNSAVED=$answer
    say "the output couldn't be uploaded; it is in $OUTPUT on this VM, which stays"
  elif [ "$answer${WAITING:-}" = 01 ]; then
    say "the program was killed; files that may be incomplete don't replace those in the bucket"
  fi
  return "$answer"
}

# A file that may be half still goes up where the bucket has none: there is no next look, and this VM goes. What is
# missing all the same, since somebody has deleted it there, is sent once more.
save_once() {
  local answer=0
  may_write || return
  upload_output 86400 "$WHOLE" new || return
  compare_output || answer=$?
  [ "$answer" = 4 ] || return "$answer"
  : >"$SENT_LIST"
  upload_output 86400 "$WHOLE" new && compare_output
}

# Whoever has written a status before this VM was right, unless it was an older attempt. Fails where there is none to be
# written, or none can be.
write_status() {
  local answer=0
  for_ever status_once "$1" || answer=$?
  case $answer in
    0 | 3) return 0 ;;
    1) return 1 ;;
  esac
  say "the status $1 couldn't be written, so this VM stays"
  return 1
}

# A bucket that was away for longer than we are patient, and is back, gets the output first.
status_once() {
  local status=$1 answer=0
  may_write || return
  [ "${UNSAVED:-}" != 2 ] || ! save_once || UNSAVED=""
  [ -z "${UNSAVED:-}" ] || [ "$status" != 0 ] || status=74
  echo "$status" >"$STATE/code"
  put_status 0 || answer=$?
  [ "$answer" = 3 ] || return "$answer"
  answer=0
  older_status || answer=$?
  case $answer in
    1) return 3 ;;
    2) return 2 ;;
  esac
  put_status "$REPLY" || answer=$?
  # Somebody was faster: look again whose that is.
  return $((answer == 3 ? 2 : answer))
}

# Over this generation. Who reads it learns whose it is: that of an attempt that is over ends no other. The attempt comes
# last, which is what every gsutil keeps.
put_status() { put "$STATE/code" "$HERE/metadata/status-code" "$1" 60 "instance_id=$ID" "attempt=$ATTEMPT"; }

# The first node judges; the others wait until the job has a status. 0 where the program is to run once more.
finish_gang() {
  local own=$ENDED answer=0
  say "the program ended with status $own${STOPPED:+, stopped since the gang is incomplete ($PEERS_SAY)}"
  save_output || answer=$?
  [ "$answer" = 1 ] && return 1
  if [ "$PEERS_SAY" = changed ] || members_changed; then
    # What it said last is of the epoch that it leaves.
    [ -e "$STATE/fenced" ] || upload_last_log
    leave_epoch
    return 0
  fi
  [ "$answer" = 0 ] || [ "$own" != 0 ] || own=74
  tell_end "$own" "$STOPPED"
  if [ "$RANK" = 0 ]; then
    judge_gang "$own"
  else
    wait_for_verdict
  fi
  case $VERDICT in
    again) restore_again && return 0 ;;
    bent) leave_epoch && return 0 ;;
    lost) [ -z "$TAKEN" ] || hand_over ;;
    ended) leave ;;
    *) write_status "$VERDICT" && leave ;;
  esac
  return 1
}

# All nodes begin with the same files: what this one wrote is in the bucket, and what others wrote may be newer.
restore_again() {
  [ -z "${UNSAVED:-}" ] || return 0
  find "$OUTPUT" -mindepth 1 -delete
  : >"$SENT_LIST"
  for_ever restore_output && return
  REFUSED=$(($? == 1 ? 66 : 77))
  refuse_start
  return 1
}

# Nothing is left to do here: the VM deletes itself.
leave() {
  local project
  end_loops
  : >"$STATE/done"
  [ -z "${UNSAVED:-}" ] || return
  setting keep-vm
  if [ "$REPLY" = 1 ]; then
    say "the VM stays, since spotwarden-keep-vm is set"
    return
  fi
  patiently 120 ask project/project-id
  project=$REPLY
  say "deleting $VM in $ZONE"
  # From here on a shutdown is what was asked for.
  trap - TERM
  patiently 600 delete_itself "$project" && return
  say "this VM may not delete itself, so it shuts down"
  shutdown -h now
}

# By its id: a name may belong to another one some day.
delete_itself() {
  local said
  local compute=${CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE:-https://compute.googleapis.com/compute/v1/}
  if [ "$TRANSPORT" = curl ]; then
    request 60 -X DELETE -o /dev/null "${compute}projects/$1/zones/$ZONE/instances/$ID"
  else
    said=$(gcloud compute instances delete "$VM" --zone="$ZONE" --quiet 2>&1) || told "$said"
  fi
}

# --- From boot to the program: who this VM is, and what the program needs. ---

main() {
  trap '' PIPE
  trap 'TAKEN=${TAKEN:-shutdown}' TERM
  (umask 077 && mkdir -p "$STATE") && rm -rf "${STATE:?}"/*
  mkfifo "$STATE/events"
  exec 5<>"$STATE/events"
  echo "$BASHPID" >"$STATE/pid"
  until read_settings; do
    say "the metadata server doesn't answer; trying again"
    sleep 2
  done
  make_place
  open_bucket
  begin_attempt || return
  loop watch_preemption
  prepare
  case $? in
    0) live ;;
    1)
      ! hands_over || announce
      ! begins_anew || { main && return; }
      ;;
    *) finish "$REFUSED" ;;
  esac
  end_loops
}

# Whether this VM, which was told of its end before it was a member, is not taken after all: it would be waited for.
begins_anew() {
  [ -n "$WAITS" ] && hands_over || return
  NOTICED=$SECONDS
  outlives_notice || return
  say "this VM was not preempted: it starts again"
  end_loops
  TAKEN=""
}

make_place() {
  setting folder
  WORK=${REPLY:-$WORK}
  NOTICE_FILE=$WORK/notice TURN_FILE=$WORK/turn CODE=$WORK/code OUTPUT=$WORK/output INPUT=$WORK/input ASIDE=$WORK/set-aside
  SENT_LIST=$WORK/sent PROGRESS=$WORK/progress HOSTFILE=$WORK/hostfile
  number heartbeat 300
  HEARTBEAT=$((REPLY ? REPLY : 300))
  # The progress is looked at once a period, and the log goes up as often at most; whether it has grown is looked at sooner.
  PERIOD=$((HEARTBEAT < 60 ? HEARTBEAT : 60)) LOG_PERIOD=$((HEARTBEAT < 2 ? HEARTBEAT : 2))
  number sync 300
  SYNC=$((REPLY ? REPLY : 300))
  number grace 10
  GRACE=$REPLY
  number notice 120
  NOTICE_SECONDS=$REPLY
  number upload-timeout 900
  PATIENCE=$REPLY
  LOOK=$((HEARTBEAT < 15 ? HEARTBEAT : 15)) VERDICT_SECONDS=$((6 * LOOK + GRACE + 60))
  mkdir -p "$CODE" "$OUTPUT" "$INPUT" "$WORK/log"
  rm -f "$TURN_FILE" "$TURN_FILE.awaited"
  find_place
  find_bending
  read_rules
}

# 1 where there is nothing to do for this VM: the job has ended, or a newer attempt has taken over.
begin_attempt() {
  local answer=0
  [ -n "$BUCKET" ] || { say "the metadata attribute spotwarden-bucket is missing; set it to the job's bucket" && return 1; }
  for_ever find_attempt || answer=$?
  echo "$ATTEMPT" >"$STATE/attempt"
  LOG=$WORK/log/$ATTEMPT.log CURVE=$WORK/log/$ATTEMPT.jsonl
  say "attempt $ATTEMPT of $JOB on $NODE ($ID) in $ZONE"
  [ "$answer" = 0 ] || fence || return 1
  if for_ever has_ended; then
    say "the job has already ended with status $REPLY; nothing is run"
    leave
    return 1
  fi
}

# Until there is an answer. Training from nothing because the bucket was away for a while would be worse than waiting.
for_ever() {
  local answer=0
  while true; do
    patiently 120 "$@" || answer=$?
    [ "$answer" = 2 ] || return "$answer"
    say "the bucket doesn't answer ($1${STATUS:+, status $STATUS}); trying again"
    answer=0
  done
}

# What the program needs. 1: this VM is taken; 2: the job cannot run, and REFUSED is the status that says why.
prepare() {
  local step answer
  for step in register find_run find_predecessor restore_now fetch_code fetch_inputs; do
    answer=0
    for_ever "$step" || answer=$?
    listen 0.01
    [ -z "$TAKEN" ] || return 1
    case $answer in
      0) ;;
      1) REFUSED=66 ;;
      *) REFUSED=77 ;;
    esac
    [ "$answer" = 0 ] || { say "failed, and won't be tried again: $step${STATUS:+ (status $STATUS)}" && return 2; }
  done
  write_environment
  write_hostfile
  [ -n "$PREDECESSOR$WAITS" ] || begin
  REFUSED=127
  choose_command || return 2
  hint_at_agent
}

# What a predecessor still writes is restored once it has handed over.
restore_now() {
  [ -z "$PREDECESSOR$WAITS" ] || return 0
  # Another node may have written a newer file of the same length.
  [ "$NODES" = 1 ] || : >"$SENT_LIST"
  restore_output
}

main
