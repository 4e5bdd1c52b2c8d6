"""What is not known refuses where it would reach a create, and nowhere else.

For every *refused* its neighbour, one fact apart, that is *not*.
"""

from collections.abc import Mapping

import pytest

from spotwarden.create_script.bash.evaluator.script import run_script
from spotwarden.create_script.refusal import ScriptRefused

CREATE = "gcloud compute instances create"
FILES = {"boot.sh": b"echo boot\n", "list.txt": b"one\ntwo\n", "conf/a.env": b"A=1\n"}


def creates(text: str, files: Mapping[str, bytes] = FILES) -> list[str]:
    """The names of the machines that a script creates."""
    run = run_script(text.encode(), files=files, environment={})
    words = [[str(word.value) for word in command.words] for command in run.commands]
    return [line[4] for line in words if line[1:4] == ["compute", "instances", "create"]]


def refusal(text: str, files: Mapping[str, bytes] = FILES) -> ScriptRefused:
    """The refusal of a script."""
    with pytest.raises(ScriptRefused) as caught:
        creates(text, files)
    return caught.value


REACHING = {
    "a command substitution": (f'{CREATE} "vm-$(date)"', f'echo "$(date)"\n{CREATE} vm'),
    "backticks": (f"{CREATE} vm-`whoami`", f"W=`whoami`\n{CREATE} vm"),
    "a process substitution": (f"{CREATE} vm <(ls)", f"cat <(ls)\n{CREATE} vm"),
    "the environment": (f"{CREATE} vm-$USER", f"echo $USER\n{CREATE} vm"),
    "a random number": (f"{CREATE} vm-$RANDOM", f"sleep $((RANDOM % 9))\n{CREATE} vm"),
    "the home folder": (f"H=~/x; {CREATE} vm-$H", f"ls ~\n{CREATE} vm"),
    "the process id": (f"{CREATE} vm-$$", f"echo $$\n{CREATE} vm"),
    "the script's own name": (f"{CREATE} $0", f"echo $0\n{CREATE} vm"),
    "text typed by a person": (f"read n\n{CREATE} $n", f"read n\n{CREATE} vm"),
    "text out of a pipe": (f"echo a | while read n; do {CREATE} $n; done", f"echo a | cat\n{CREATE} vm"),
    "arithmetic with it": (
        f"n=$(nproc); {CREATE} vm-$((n + 1))",
        f"n=$(nproc); echo $((n + 1))\n{CREATE} vm",
    ),
    "an element of an array": (f"a=(x $(ls)); {CREATE} ${{a[0]}}", f"a=(x $(ls)); {CREATE} vm"),
    "an exported variable of gcloud": (
        f"export CLOUDSDK_COMPUTE_ZONE=$(cat z); {CREATE} vm",
        f"export OTHER=$(cat z); {CREATE} vm",
    ),
    "a variable of unknown name": (
        f"export $(cat job.env); {CREATE} vm",
        f"export A=$(cat job.env); {CREATE} vm",
    ),
    "the command itself": (
        f"$(which gcloud) compute instances create vm; {CREATE} vm",
        f'"$(which ls)" /; {CREATE} vm',
    ),
    "a function of unknown body": (f'eval "$(cat f.sh)"; {CREATE} vm', f"eval 'x=1'; {CREATE} vm"),
    "a file that is not stored": (f"source other.env; {CREATE} vm", f"source conf/a.env; {CREATE} vm"),
}


@pytest.mark.parametrize("what", REACHING)
def test_what_is_not_known_refuses_where_it_reaches_a_create(what: str):
    """The refusal comes from the value that is not known."""
    assert refusal(REACHING[what][0]).line >= 1


@pytest.mark.parametrize("what", REACHING)
def test_the_same_is_let_pass_where_it_is_only_bookkeeping(what: str):
    """Beside a create that does not use it, it changes nothing."""
    assert creates(REACHING[what][1]) == ["vm"]


DECIDING = {
    "a test of it": (
        f"if [ $(id -u) = 0 ]; then {CREATE} vm; fi",
        f"if [ $(id -u) = 0 ]; then echo root; fi; {CREATE} vm",
    ),
    "a program's outcome": (f"if ping x; then {CREATE} vm; fi", f"if ping x; then echo up; fi; {CREATE} vm"),
    "a failure": (f"ping x || {CREATE} vm", f"ping x || echo down; {CREATE} vm"),
    "the status of a program": (
        f"ping x; if [ $? -eq 0 ]; then Z=a; else Z=b; fi; {CREATE} vm-$Z",
        f"ping x; if [ $? -eq 0 ]; then Z=a; else Z=b; fi; {CREATE} vm",
    ),
    "a create that worked": (
        f"for z in a b; do {CREATE} vm-$z && break; done",
        f"for z in a b; do {CREATE} vm-$z || break; done",
    ),
    "a branch that leaves": (f"[ $USER = x ] && exit; {CREATE} vm", f"[ $USER = x ] && echo hi; {CREATE} vm"),
    "a skipped round": (
        f"for i in a; do [ $USER = x ] && continue; {CREATE} vm; done",
        f"for i in a; do [ $USER = x ] && continue; done; {CREATE} vm",
    ),
    "a function that may return": (
        f"f() {{ [ $USER = x ] && return; {CREATE} vm; }}; f",
        f"f() {{ [ $USER = x ] && return; echo; }}; f; {CREATE} vm",
    ),
    "a case of it": (f"case $USER in x) {CREATE} vm;; esac", f"case $USER in x) Z=1;; esac; {CREATE} vm"),
    "a case that sets a value": (
        f"case $USER in x) Z=1;; *) Z=2;; esac; {CREATE} vm-$Z",
        f"case $USER in x) Z=1;; *) Z=1;; esac; {CREATE} vm",
    ),
    "how often a loop runs": (
        f"while ping x; do {CREATE} vm; done",
        f"while ping x; do sleep 1; done; {CREATE} vm",
    ),
    "a count in such a loop": (
        f"n=0; until ping x; do n=$((n+1)); done; {CREATE} vm-$n",
        f"n=0; until ping x; do n=$((n+1)); done; {CREATE} vm",
    ),
    "a configuration in a branch": (
        f"if ping x; then gcloud config set project p; fi; {CREATE} vm",
        f"if ping x; then gcloud config list; fi; {CREATE} vm",
    ),
    "set -e in a branch": (
        f"if ping x; then set -e; fi; {CREATE} vm",
        f"if ping x; then set -x; set +x; fi; {CREATE} vm",
    ),
    "a menu": (f"select x in a; do {CREATE} vm; done", f"select x in a; do echo; done; {CREATE} vm"),
}


@pytest.mark.parametrize("what", DECIDING)
def test_whether_a_create_runs_must_be_known(what: str):
    """A create that hangs on something outside is refused."""
    assert refusal(DECIDING[what][0]).line >= 1


@pytest.mark.parametrize("what", DECIDING)
def test_a_branch_around_other_commands_is_let_pass(what: str):
    """The same question around bookkeeping leaves the create alone."""
    assert creates(DECIDING[what][1]) in (["vm"], ["vm-a", "vm-b"])


TAKEN_TO_SUCCEED = {
    "a command before it": f"mkdir out && cd out && {CREATE} vm",
    "a chain": f"gcloud compute networks create n && {CREATE} vm",
    "set -e": f"set -e\ngsutil ls gs://x\n{CREATE} vm",
    "an exit on failure": f"command -v gcloud || exit 1\n{CREATE} vm",
    "a return on failure": f"f() {{ ping x || return 1; {CREATE} vm; }}; f",
    "an if that exits": f"if ! ping x; then echo no; exit 1; fi\n{CREATE} vm",
    "a status that is checked": f"ping x\nif [ $? -ne 0 ]; then exit 1; fi\n{CREATE} vm",
    "the last create's own status": f"if {CREATE} vm; then echo ok; else exit 1; fi",
    "a wait": f"{CREATE} vm &\nwait $! || exit 1",
}


@pytest.mark.parametrize("script", TAKEN_TO_SUCCEED.values(), ids=TAKEN_TO_SUCCEED.keys())
def test_commands_whose_failure_ends_the_script_are_taken_to_succeed(script: str):
    """To stop where something fails is what `set -e` does everywhere."""
    assert creates(script) == ["vm"]


FROM_FILE = f"{CREATE} vm --metadata-from-file=startup-script=boot.sh"
WRITING = {
    "a redirection": (f"echo x > boot.sh; {FROM_FILE}", f"echo x > other.sh; {FROM_FILE}"),
    "an appended line": (f"echo x >> boot.sh; {FROM_FILE}", f"echo x >> log; {FROM_FILE}"),
    "sed -i": (f"sed -i s/a/b/ boot.sh; {FROM_FILE}", f"sed s/a/b/ boot.sh; {FROM_FILE}"),
    "a copy over it": (f"cp other boot.sh; {FROM_FILE}", f"cp boot.sh other; {FROM_FILE}"),
    "tee": (f"echo x | tee boot.sh; {FROM_FILE}", f"echo x | tee log; {FROM_FILE}"),
    "a program that is not known": (f"munge boot.sh; {FROM_FILE}", f"munge list.txt; {FROM_FILE}"),
    "a download": (
        f"gsutil cp gs://b/boot.sh boot.sh; {FROM_FILE}",
        f"gsutil cp boot.sh gs://b/; {FROM_FILE}",
    ),
    "another folder": (f"cd $(mktemp -d); {FROM_FILE}", f"cd conf; cd ..; {FROM_FILE}"),
    "a folder beside the script": (
        f'cd "$(dirname "$0")/conf"; {FROM_FILE}',
        f'( cd "$(dirname "$0")/conf" ); {FROM_FILE}',
    ),
    "a move": (f"mv other boot.sh; {FROM_FILE}", f"mv list.txt old; {FROM_FILE}"),
}


def _content(text: str) -> bytes:
    run = run_script(text.encode(), files=FILES, environment={})
    return run.commands[-1].files["boot.sh"]


@pytest.mark.parametrize("what", WRITING)
def test_a_file_that_changes_while_the_script_runs_is_not_known(what: str):
    """Whoever asks for its content is refused, with the line where it changed."""
    with pytest.raises(ScriptRefused, match=r"written|folder|not stored|machine|not known"):
        _content(WRITING[what][0])


@pytest.mark.parametrize("what", WRITING)
def test_a_file_that_is_left_alone_is_handed_on(what: str):
    """The neighbouring command touches another file, or only reads this one."""
    assert _content(WRITING[what][1]) == FILES["boot.sh"]


def test_a_file_that_the_script_removes_is_gone():
    """Asking for it is an error as for any file that is not there."""
    run = run_script(f"rm boot.sh\n{FROM_FILE}".encode(), files=FILES, environment={})
    assert "boot.sh" not in run.commands[0].files


def test_a_create_sees_the_files_as_they_were_at_its_turn():
    """What happens to a file behind the create does not count."""
    run = run_script(f"{FROM_FILE}\nrm boot.sh; echo > list.txt".encode(), files=FILES, environment={})
    assert run.commands[0].files["list.txt"] == FILES["list.txt"]


OTHER_RUNNERS = {
    "xargs": f"xargs -n1 {CREATE}",
    "parallel": f"parallel {CREATE} ::: a b",
    "a pipe into bash": f"echo '{CREATE} vm' | bash",
    "python": f"python3 -c 'import os; os.system(\"{CREATE} vm\")'",
    "find": f"find . -exec {CREATE} vm \\;",
    "an exported function": f"f() {{ {CREATE} vm; }}; export -f f; parallel f ::: a",
    "a script of unknown content": "sed -i s/a/b/ boot.sh; bash boot.sh",
    "an alias": f"shopt -s expand_aliases\nalias mk='{CREATE}'\nmk vm",
}


@pytest.mark.parametrize("script", OTHER_RUNNERS.values(), ids=OTHER_RUNNERS.keys())
def test_creates_that_another_program_would_run_are_refused(script: str):
    """None is passed over in silence."""
    assert refusal(script).reason


def test_a_create_that_is_only_mentioned_is_no_create():
    """Printing, searching or mailing the text of a create runs nothing."""
    text = f"echo {CREATE} a; grep '{CREATE}' x; ssh host '{CREATE} b'; git commit -m '{CREATE}'"
    assert creates(text) == []


def test_environment_of_the_policy_reaches_the_script():
    """Variables that the caller gives are exported to it."""
    run = run_script(f"{CREATE} vm-$JOB".encode(), files={}, environment={"JOB": "j1"})
    assert run.commands[0].words[4].value == "vm-j1"
    assert run.commands[0].environment["JOB"] == "j1"


def test_a_refusal_names_the_line_of_the_value():
    """The line is where the value came from, not where it is used."""
    assert refusal(f"A=1\nB=$(date)\n\n{CREATE} $B").line == 2


def test_a_refusal_in_a_sourced_file_names_that_file():
    """So that a person finds it."""
    caught = refusal(f"source conf/a.env; {CREATE} vm", {"conf/a.env": f"\n{CREATE} $(date)\n".encode()})
    assert (caught.file, caught.line) == ("conf/a.env", 2)


@pytest.mark.parametrize("line", ["#!/usr/bin/env python3", "#!/usr/bin/perl", "#!/bin/zsh"])
def test_scripts_for_other_programs_are_refused(line: str):
    """Only what bash runs is read as bash."""
    assert "not for bash" in refusal(f"{line}\n{CREATE} vm").reason


@pytest.mark.parametrize("line", ["#!/bin/sh", "#! /usr/bin/env -S bash -e", "#!/usr/bin/bash", "# none"])
def test_scripts_for_bash_and_sh_are_read(line: str):
    """With or without a first line that says so."""
    assert creates(f"{line}\n{CREATE} vm") == ["vm"]


def test_an_argument_that_linux_would_not_pass_on_is_refused():
    """One byte less is let pass."""
    fits = "x" * (128 * 1024 - 1)
    assert creates(f"{CREATE} {fits}") == [fits]
    assert "longer" in refusal(f"{CREATE} {fits}x").reason


def test_bash_stops_at_a_syntax_error_but_has_run_what_stands_before():
    """The error itself is told, with its line."""
    run = run_script(f"{CREATE} vm\nif true; then\n".encode(), files={}, environment={})
    assert len(run.commands) == 1
    assert run.ended is not None
    assert "syntax error" in run.ended.reason
