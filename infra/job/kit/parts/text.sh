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
  REPLY=${REPLY//\\\"/\"}
  printf -v REPLY '%b' "$REPLY"
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
