"""`$(dirname "$0")`: not known, but certainly the folder of the script."""

from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.tree import Block, Simple
from spotwarden.create_script.bash.words import Assignment, Parameter, Substitution, Word
from spotwarden.create_script.request.command import Unknown


class OwnFolder(Unknown, frozen=True, kw_only=True):
    """The folder of the script, by whatever path it was called."""


def names_own_folder(shell: Shell, part: Substitution) -> bool:
    """Whether a substitution is just that, in the text of the script itself.

    A function, or a script that is run or sourced from there, may have another name.
    """
    if shell.depth or not part.quoted or "dirname" in shell.state.functions:
        return False
    match part.body:
        case Block((Simple(assignments=(), words=(Word(text="dirname"), *others), redirects=()),)):
            operands = [word for word in others if not (isinstance(word, Word) and word.text == "--")]
            return [_is_own_name(word) for word in operands] == [True]
    return False


def _is_own_name(word: Word | Assignment) -> bool:
    """Whether a word is `"$0"` or `"${BASH_SOURCE[0]}"`."""
    match word:
        case Word((Parameter(quoted=True, operator="", indirect=False) as name,)):
            first = name.subscript is None or name.subscript.text == "0"
            return name.name == "0" or (name.name == "BASH_SOURCE" and first)
    return False
