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
