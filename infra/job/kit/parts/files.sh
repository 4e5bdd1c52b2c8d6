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
