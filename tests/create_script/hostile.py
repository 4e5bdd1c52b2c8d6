"""Scripts that are written to keep their reader busy or to fill its memory: by hand, and one shape repeated.

Each is a text, most of them close to the largest that is read. Run as a program it reads them all, each
in a process of its own, and prints what each took: `python -m tests.create_script.hostile`.
"""

import json
import os
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from spotwarden.create_script.bash.limits import MAX_SCRIPT_BYTES
from spotwarden.create_script.request.stored import launch_of, with_choices
from spotwarden.model.launch import NoLaunch, StoredScript
from tests.create_script import hostile_launches
from tests.create_script.hostile_launches import LAUNCHES, ZONES
from tests.create_script.hostile_places import PLACES

SIZE = MAX_SCRIPT_BYTES - 4_000
CREATE = "gcloud compute instances create trainer --zone=us-central1-a\n"
FILES: Mapping[str, bytes] = {
    "self.sh": b"source self.sh; bash self.sh\n",
    "comments.sh": b"# nothing\n" * 20_000,
    "big.txt": b"l x\n" * 60_000,
    "a.yaml": b"--labels:\n" + b"".join(b"  k%d: v\n" % number for number in range(800)),
    "many.yaml": b"--flags-file:\n" + b"- b.yaml\n" * 40,
    "b.yaml": b"--labels:\n" + b"".join(b"  k%d: v\n" % number for number in range(4_000)),
    **{f"d{number}/e/f/g{number}.txt": b"" for number in range(400)},
}
# Expressions that take a matcher which goes back forever.
MATCHES = {
    "alternatives in a loop": "[[ " + "a" * 40 + "b =~ ^(a|a)*$ ]]",
    "optional signs": "[[ " + "a" * 28 + " =~ ^" + "a?" * 28 + "a" * 28 + "$ ]]",
    "loops in a loop": "[[ " + "a" * 1500 + "! =~ ^(((a+)+)+)+$ ]]",
    "a case of plusses": "shopt -s extglob\nX=" + "a" * 200 + "\ncase $X in +(a|aa|aaa)b) :;; esac",
    "choices one behind the other": "X=" + "a" * 38 + "\n[[ $X == " + "@(a|b|aa|a)" * 38 + "b ]]",
    "a replacement of plusses": "shopt -s extglob\nX=" + "a" * 3000 + "\nY=${X//+(a|aa)b/}",
    "nested groups": "shopt -s extglob\nX=" + "a" * 90 + "\n[[ $X == " + "*(" * 20 + "a" + ")" * 20 + "b ]]",
    "many stars": "X=" + "a" * 1900 + "\n[[ $X == " + "*a" * 900 + "b ]]",
    "many stars to cut": "X=" + "a" * 100_000 + "\nY=${X%%" + "*a" * 900 + "b}",
    "many dots to replace": "X=" + "a" * 100_000 + "\nY=${X//" + "*b" * 200 + "/}",
    "each state another": "X=" + "ab" * 30_000 + "\n[[ $X =~ (a|b)*a" + "(a|b)" * 300 + "c ]]",
    "a count of counts": "[[ aaaa =~ ((a{30}){30}) ]]; [[ aaaa =~ (((a{9}){9}){9}){9} ]]",
    "a large count": "[[ aaaa =~ (.{999}){999} ]]",
    "a count beyond all": "[[ aaaa =~ a{99999} ]]",
    "many parentheses": "[[ " + "a" * 300 + " =~ " + "(a*)" * 490 + " ]]",
    "deep parentheses": "r='" + "(" * 990 + "a" + ")" * 990 + "'; [[ a =~ $r ]]",
    "many parts": "r='" + "(a*)" * 29 + "'; X=" + "a" * 9_000 + "; [[ $X =~ $r ]]",
    "a reference back": "r='(a*)\\1'; [[ aaaa =~ $r ]]",
    "open brackets": "X=" + "[" * 1990 + "\n" + "[[ a == $X ]]\n" * 3000,
    "open brackets as a word": "X='" + "[" * 1990 + "'\n" + ": $X\n" * 3000,
    "a new expression each time": "i=0; while :; do i=$((i+1)); [[ aaaa =~ (a{500}$i|b) ]]; done",
    "a new pattern each time": "i=0; while :; do i=$((i+1)); [[ aaaa == *($i|?)*?????????????????? ]]; done",
    "one expression always": "X=" + "a" * 20_000 + "\nwhile :; do [[ $X =~ (x+x+)+y ]]; done",
    "shortest beginnings": "X=" + "a" * 50_000 + "\nwhile :; do Y=${X#*a*b}; done",
    "letters by a pattern": "X=" + "a" * 100_000 + "\nY=${X^^[!b]*}",
    "a create in many words": "foo " + "gcloud compute instances " * 5_000,
    "a create in a file": "foo x.txt",
}
GROWTH = {
    "doubled values": "x=aaaaaaaa; while :; do x=$x$x; done",
    "doubled to the last": "x=aaaaaaaa; " + "x=$x$x;" * 18 + " while :; do y=$x; done",
    "doubled by appending": "x=aaaaaaaa; while :; do x+=$x; done",
    "wide characters": "x=\U0001f600; while :; do x=$x$x; done",
    "doubled arrays": 'a=(1 2 3 4); while :; do a+=("${a[@]}"); done',
    "one more element": "while :; do a+=(x); done",
    "one more element of many": "a=({1..2000} {1..2000}); while :; do a+=(x); done",
    "one element set": "a=({1..2000} {1..2000}); while :; do a[7]=x; done",
    "one element gone": "a=({1..2000} {1..2000}); while :; do unset 'a[7]'; a[7]=x; done",
    "the last of many": "a=({1..2000} {1..2000}); while :; do : ${a[-1]}; done",
    "the number of many": "a=({1..2000} {1..2000}); while :; do : ${#a[@]}; done",
    "many named often": 'a=({1..2000}); x="' + "${a[@]}" * 10_000 + '"',
    "a slice of many": "a=({1..2000}); while :; do : ${a[@]:1:1}; done",
    "words out of a value": "x='a b '; " + "x=$x$x;" * 18 + " : $x",
    "signs out of a value": "x=a:; " + "x=$x$x;" * 18 + " IFS=:; : $x",
    "lines of a file": "while :; do mapfile x < big.txt; done",
    "empty lines": "x=$'\\n'; " + "x=$x$x;" * 20 + ' mapfile y <<< "$x"',
    "words of a line": "x='a b '; " + "x=$x$x;" * 18 + ' read -a y <<< "$x"',
    "a line read anew": "x=aaaaaaaa; " + "x=$x$x;" * 15 + ' while :; do read y <<< "$x"; done',
    "a format of formats": "x=%9999d; " + "x=$x$x;" * 14 + ' printf -v y "$x"',
    "a format of signs": "x=%%%%; " + "x=$x$x;" * 18 + ' printf -v y "$x"',
    "a format for many": "a=({1..2000} {1..2000} {1..2000}); while :; do printf -v y %s%9999d ${a[@]}; done",
    "a format of escapes": "x='\\n\\n'; " + "x=$x$x;" * 18 + ' printf -v y "$x"',
    "long words in braces": ": " + "x" * 100_000 + "{1..2000}",
    "braces in braces": ": " + ("{a," * 30 + "b" + "}" * 30 + " ") * 2_000,
    "open braces": ": " + ("{" * 1_990 + " ") * 120,
    "braces times braces": ": " + "{1..40}{1..40} " * 4_000,
    "quotes": "x='" + "\\n" * 100_000 + "'; while :; do eval \"y=\\$'$x'\"; done",
    "written signs": "x=$'" + "\\n" * 120_000 + "'",
    "control characters": "x=$'\\a\\b'; " + "x=$x$x;" * 18 + " y=${x@Q}",
    "letters one by one": "x=ab; " + "x=$x$x;" * 20 + " y=${x^^}",
    "notes": "while :; do =" + "x" * 200_000 + "; done",
    "names of variables": "i=0; while :; do i=$((i+1)); declare v$i=1; : ${!v*}; done",
    "exported variables": "i=0; while :; do i=$((i+1)); export v$i=1; gcloud info; done",
    "doubts": "for i in {1..2000}; do declare v$i=1; done; while ping a; do "
    + "if ping x; then break; fi;" * 2_000
    + " done",
    "subshells of many": "for i in {1..2000}; do declare v$i=1; done; while :; do (:); done",
    "functions in a loop": "while :; do " + "f(){ :;};" * 5_000 + " done",
    "a folder in a folder": "while :; do pushd d1; done",
    "files written": "i=0; while :; do i=$((i+1)); : > f$i; done",
    "a deep path": "while :; do test -f " + "a/" * 90_000 + "b; done",
    "deep paths": "rm " + ("a/" * 31 + "b ") * 3_000,
    "files by a pattern": "while :; do : */*/*/*; done",
    "folders asked for": "while :; do cd d1; cd ..; done",
    "positional parameters": "set -- {1..2000} {1..2000} {1..2000}; while :; do : $1 $#; shift; done",
    "options": "set -- {1..2000} {1..2000}; while getopts ab:c x; do :; done",
    "many options": "declare -" + "x" * 200_000 + " y; while :; do set -" + "x" * 10_000 + "; done",
    "one long here-document": "while :; do cat <<E\n" + "x" * 200_000 + "\nE\ndone",
    "many here-documents": "cat <<A\n\nA\n" * 20_000,
    "lines of a here-document": "cat <<A\n" + "\n" * 200_000,
    "here-documents without end": "cat " + "<<A " * 50_000 + "\n" + "x\n" * 10,
}
RUNS = {
    "a loop": "while true; do :; done",
    "a loop of counts": "for ((;;)); do :; done",
    "a recursion": "f() { f; }; f",
    "two recursions": "f() { f; f; }; f",
    "a source of itself": "source self.sh",
    "a script of itself": "bash self.sh",
    "an eval of itself": 'x=\'eval "$x"\'; eval "$x"',
    "a file of comments": "while :; do source comments.sh; done",
    "a file for a program": "while :; do foo big.txt; done",
    "a long arithmetic": "while :; do ((" + "1+" * 990 + "1)); done",
    "arithmetic in arithmetic": "a0=1; " + "".join(f"a{n + 1}=a{n}+a{n}; " for n in range(20)) + "((a20))",
    "arithmetic in itself": "x='x+x'; ((x))",
    "subscripts in subscripts": "((" + "a[" * 600 + "0" + "]" * 600 + "))",
    "a subscript in itself": "x='a[x]'; ((a[x]))",
    "a huge power": "x=$((9 ** 999999999999)); while :; do ((x **= x)); done",
    "a huge number": "x=1; " + "x=$x$x;" * 20 + " ((y=x))",
    "many digits": "while :; do ((y=" + "1" * 100_000 + ")); done",
    "questions in questions": "((" + "1?1:" * 600 + "1))",
    "long conditions": "while :; do [[ " + "a && " * 9_000 + "a ]]; done",
    "long tests": "while :; do [ " + "a -o " * 4_000 + "a ]; done",
    "tests in parentheses": "while :; do [ " + "'(' " * 150 + "a " * 5_000 + "')' " * 150 + "]; done",
    "exclamation marks": "while :; do [ " + "! " * 8_000 + "a ]; done",
    "long commands": "while :; do : " + "a " * 15_000 + "; done",
    "words for env": "while :; do env " + "a=1 " * 15_000 + "; done",
    "options for env": "while :; do env " + "-a " * 15_000 + "; done",
    "wrapped wrappers": "while :; do " + "nohup " * 15_000 + "; done",
    "commands of commands": "while :; do " + "command -p " * 8_000 + "; done",
    "options of bash": "while :; do bash " + "-x " * 15_000 + "; done",
    "branches that fall on": "case $(a) in " + "x) ;;& " * 4_000 + "esac",
    "branches that nobody knows": "if ping a; then :; " + "elif ping b; then :; " * 3_000 + "fi",
    "loops that nobody knows": "while ping x; do " * 12 + ":" + "; done" * 12,
    "loops in loops": "for i in {1..9}; do " * 12 + ":" + "; done" * 12,
    "an open subscript": "declare " + "a[ " * 8_000,
    "open subscripts before much": "declare " + "a[ " * 150 + "x" * 200_000,
    "exclamations and times": "! time " * 30_000,
    "escapes in a word": "x" * 200_000 + "\\a" * 15_000,
    "quotes in a word": "'x'" * 15_000,
    "bars in an expression": "[[ a =~ (" + "|" * 200_000 + ") ]]",
    "comments": "#\n" * 120_000,
    "empty lines of a script": "\n" * 250_000,
    "empty lines of a condition": "[[" + "\n" * 250_000,
    "joined lines": "a\\\n" * 80_000,
    "digits": "1" * 250_000,
    "blanks": "a" + " " * 250_000 + "(",
    "tildes": "a=" + ":" * 120_000 + "~",
    "backticks": "`" + "\\`" * 120_000,
    "gcloud commands": "while :; do gcloud info " + "a " * 1_000 + "; done",
    "many creates": "while :; do " + CREATE + "done",
    "long creates": "while :; do gcloud compute instances create x --zone=z "
    + "--labels=a=b " * 900
    + "; done",
    "flags files": "for i in {1..900}; do " + CREATE.strip() + " --flags-file=a.yaml; done",
    "flags files in flags files": CREATE.strip() + " --flags-file=many.yaml",
    "as many creates as may be": "for i in {1..999}; do " + CREATE + "done",
    "as many names as may be": CREATE.strip() + " vm-{1..1900}",
    "a flag that nobody knows": "gcloud compute instances create vm --zone=z " + "--machine-tipe=a" * 5_000,
    "long metadata": "while :; do gcloud compute instances create x --zone=us-central1-a --metadata="
    + ",".join(f"k{number}=v" for number in range(9_000))
    + "; done",
    "many machines": "gcloud compute instances bulk create --count=999999999 --zone=us-central1-a"
    " --name-pattern=w-#########",
}


def hostile() -> Iterator[tuple[str, str]]:
    """Yield each by name, one after another: all together they fill more memory than a script may."""
    yield from {**MATCHES, **GROWTH, **RUNS, **LAUNCHES}.items()
    for (before, after), unit in PLACES:  # one shape, over and over, up to the largest script that is read
        name = f"{before!r} {unit!r} {after!r}"
        yield name, before + unit * ((SIZE - 100) // len(unit)) + after


def measured(work: Callable[[], object]) -> dict[str, float]:
    """Do something in a process of its own, with hard limits, and tell what it took."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    _, status, used = os.wait4(child, 0)
    return {"status": status, "cpu": used.ru_utime + used.ru_stime, "rss": used.ru_maxrss * 1024}


def evaluate(text: str) -> str:
    """Read one script as a function does, for each place there is; the reason, where it launches nothing."""
    files = {**FILES, **hostile_launches.FILES, "x.txt": b"gcloud compute instances " * 5_000}
    script = StoredScript(name="create.sh", text=text.encode(), generation=1, files=files)
    launch = launch_of(script, "demo-project")
    if isinstance(launch, NoLaunch):
        return launch.reason
    with_choices(launch, ZONES)
    return ""


def main(names: list[str]) -> None:
    """Write a line of JSON for each."""
    evaluate("[[ a =~ a* ]]\n" + CREATE)  # everything is imported by then, as in a function
    for name, text in hostile():
        if not names or name in names:
            sys.stdout.write(json.dumps({"name": name, **measured(partial(evaluate, text))}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
