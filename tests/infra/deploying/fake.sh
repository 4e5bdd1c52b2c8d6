#!/usr/bin/env bash
# Stands in for a tool on PATH: writes down how it was called, and answers as it is told to.
# FAKE_ANSWERS names lines of `answer PATTERN STATUS OUT COMPLAINT [CALLS]`; the first whose pattern is found in the
# command line holds, where CALLS is said for so many calls of one line. In bash, since it starts a thousand times.
# shellcheck disable=SC2329 # the answers call them

line="${0##*/}${*:+ $*}" heard=''
case $line in
  *--data-file=-* | *'--config -'*) IFS= read -rd '' heard ;;
esac

# How often this very line has been called before.
before() {
  local one count=0
  while IFS= read -rd '' one && IFS= read -rd '' _; do
    [[ $one != "$line" ]] || ((++count))
  done <"$FAKE_LOG"
  printf '%d' "$count"
}

answer() {
  [[ $line =~ $1 ]] || return 0
  [ $# -lt 5 ] || (($(before) <= $5)) || return 0
  printf '%s' "$3"
  printf '%s' "$4" >&2
  exit "$2"
}

printf '%s\0%s\0' "$line" "$heard" >>"$FAKE_LOG"
# shellcheck source=/dev/null
. "$FAKE_ANSWERS"
exit 0
