"""All gcloud commands of a script in their order: which are creates, which change gcloud's settings."""

from collections.abc import Sequence

from msgspec.structs import replace

from spotwarden.create_script.gcloud.argv import ArgToken
from spotwarden.create_script.gcloud.commands import PREVIEW, CommandLine, check_name, may_create, read_line
from spotwarden.create_script.gcloud.config import Config
from spotwarden.create_script.gcloud.create import requests_of
from spotwarden.create_script.gcloud.files import Rationed, Rations
from spotwarden.create_script.gcloud.managed_groups import fills_group, refuse_group
from spotwarden.create_script.gcloud.request import Defaults, Note, Request
from spotwarden.create_script.gcloud.slice_parts import part_of
from spotwarden.create_script.gcloud.slices import ReadPart, SliceReading
from spotwarden.create_script.gcloud.tpus import creates_tpu_node, refuse_tpu_node
from spotwarden.create_script.gcloud.versions import newer
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import SimpleCommand, Unknown
from spotwarden.model.gcloud import NEWEST, OLDEST

_HELP = {"--help", "-h"}
# A reason may quote a value of the script, and that may be a whole startup script.
_LONGEST = 500
_VERSION = {"--version", "-v"}


class GcloudSession:
    """Reads commands one after another; each create becomes requests, each other gcloud command a note."""

    def __init__(self, defaults: Defaults) -> None:
        self.config = Config(defaults)
        self.requests: list[Request] = []
        self.notes: list[Note] = []
        self.slice = SliceReading()
        self._group: int | None = None
        self._rations = Rations()

    def read(self, command: SimpleCommand) -> None:
        """Take in one command; raise `ScriptRefused` if it is a create that cannot be translated."""
        first = command.words[0].value if command.words else ""
        if isinstance(first, Unknown):
            self._read_unnamed(command, first)
        elif first.rsplit("/", 1)[-1] == "gcloud":
            self._read_gcloud(command)

    def end(self) -> None:
        """Take the parts of a slice for the requests where the script creates no instance besides.

        Raises:
            ScriptRefused: all that makes VMs is a managed instance group, and that is no slice.
        """
        if self.requests:
            return
        if self.slice.groups:
            self.requests += self.slice.requests(filled=self._group is not None)
            of_slice = {part.line for part in self.slice.parts}
            self.notes = [note for note in self.notes if note.line not in of_slice]
        elif self._group is not None:
            refuse_group(self._group)

    def _read_unnamed(self, command: SimpleCommand, first: Unknown) -> None:
        """A command whose name is unknown counts as gcloud if it goes on like a create."""
        words = [word.value for word in command.words if isinstance(word.value, str)]
        if "instances" in words and any(word.startswith("create") for word in words):
            raise ScriptRefused(
                f"the command of this create depends on {first.reason}", line=first.line or command.line
            )

    def _read_gcloud(self, command: SimpleCommand) -> None:
        tokens = [ArgToken(value=word.value, line=word.line) for word in command.words[1:]]
        line = read_line(tokens)
        unknown = line.unknown or next((t.value for t in tokens if isinstance(t.value, Unknown)), None)
        if unknown and (line.leaf or (line.unknown and may_create(line))):
            raise ScriptRefused(unknown.reason, line=unknown.line or command.line)
        if line.leaf and not _asks_for_help(line):
            if line.track == PREVIEW and self.config.gcloud_version == OLDEST:
                raise ScriptRefused(newer("gcloud preview", NEWEST, OLDEST), line=command.line)
            self._create(command, line)
            return
        if line.part and not _asks_for_help(line):
            self._part(command, line, unknown)
        if creates_tpu_node(line.path) and not _asks_about_nodes(tokens):
            refuse_tpu_node(tokens, command.line)
        if fills_group(line.path) and not _asks_for_help(line):
            self._group = self._group or command.line
        if not unknown:
            check_name(line, command.line)
        if line.path[:1] == ("config",):
            self._configure(command, tokens)
        name = " ".join(("gcloud", *line.path[:3]))
        self.notes.append(Note(line=command.line, text=f"{name}: not part of any request"))

    def _create(self, command: SimpleCommand, line: CommandLine) -> None:
        _require_text(command)
        try:
            files = Rationed(command.files, self._rations)
            self.requests += requests_of(line, replace(command, files=files), self.config)
        except ScriptRefused as refused:
            raise _at_line(refused, command.line) from None

    def _part(self, command: SimpleCommand, line: CommandLine, unknown: Unknown | None) -> None:
        """Keep what a part of a slice sends, or why it can't be told: of use only where a group needs it."""
        found: Request | ScriptRefused
        try:
            found = self._read_part(command, line, unknown)
        except ScriptRefused as refused:
            found = _at_line(refused, command.line)
        self.slice.parts.append(ReadPart(command=line.part or "", line=command.line, found=found))

    def _read_part(self, command: SimpleCommand, line: CommandLine, unknown: Unknown | None) -> Request:
        if unknown:
            raise ScriptRefused(unknown.reason, line=unknown.line or command.line)
        if line.track == PREVIEW and self.config.gcloud_version == OLDEST:
            raise ScriptRefused(newer("gcloud preview", NEWEST, OLDEST), line=command.line)
        _require_text(command)
        files = Rationed(command.files, self._rations)
        return part_of(line, replace(command, files=files), self.config)

    def _configure(self, command: SimpleCommand, tokens: Sequence[ArgToken]) -> None:
        """Follow `gcloud config …`; of its flags only --configuration and --no-activate matter."""
        words: list[ArgToken] = []
        configuration: str | None = None
        rest = iter(tokens)
        for token in rest:
            word = token.value
            if isinstance(word, str) and word.partition("=")[0] == "--configuration":
                configuration = word.partition("=")[2] or getattr(next(rest, None), "value", None)
            elif isinstance(word, Unknown) or not word.startswith("-") or word == "--no-activate":
                words.append(token)
        self.config.apply(words[1:], configuration, line=command.line)


def _at_line(refused: ScriptRefused, line: int) -> ScriptRefused:
    reason = refused.reason if len(refused.reason) <= _LONGEST else refused.reason[:_LONGEST] + "…"
    return ScriptRefused(reason, line=refused.line or line, file=refused.file)


def _require_text(command: SimpleCommand) -> None:
    """Refuse bytes that are no UTF-8: they could stand in no URL and in no body of a request."""
    words = [(word.value, word.line) for word in command.words if isinstance(word.value, str)]
    settings = [
        (value, command.line) for name, value in command.environment.items() if name.startswith("CLOUDSDK_")
    ]
    for text, line in (*words, *settings):
        if not text.isascii() and not _is_utf8(text):
            raise ScriptRefused("a word of this create is not UTF-8; store the script as UTF-8", line=line)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _asks_for_help(line: CommandLine) -> bool:
    before = {token.value for token in line.before if isinstance(token.value, str)}
    behind = {token.value for token in line.behind if isinstance(token.value, str)}
    return bool(before & (_HELP | _VERSION) or behind & _HELP)


def _asks_about_nodes(tokens: Sequence[ArgToken]) -> bool:
    """Whether a create of a TPU node only asks for help; behind its name `--version` is the TPU's image."""
    words = [token.value for token in tokens if isinstance(token.value, str)]
    return not _VERSION.isdisjoint(words[: words.index("create")]) or not _HELP.isdisjoint(words)
