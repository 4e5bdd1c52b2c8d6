"""Whatever a script can make the reader or the evaluator do often is charged to the script's budget.

This is the proof that the budget covers every loop: it goes through the source, so a new loop without a
charge fails here, and has to be given either one or a reason.
"""

import ast

from tests.create_script.bash.source_loops import charges, unbounded_recursions, uncharged_loops

READS = "each round reads a word, a part or a command, and each of these is a node"
PAID = "the words, pieces or signs it goes over were charged when they were made, or by whoever calls it"
TREE = "what it goes over was read, and running any of it is charged"
FEW = "a bounded number of rounds: levels of nesting, references, kinds of operands, fields of a tuple"
SHELL = "the shell charges for the size of the memory before it calls this"
FOLDER = "each file or path it looks at is charged by the folder"

REASONS: dict[str, tuple[str, ...]] = {
    READS: (
        "reader/commands:read_simple",
        "reader/commands:_array",
        "reader/compound:_if",
        "reader/compound:_names",
        "reader/compound:_case",
        "reader/compound:_clause",
        "reader/compound:redirected",
        "reader/conditions:_or",
        "reader/conditions:_and",
        "reader/heredoc:read_bodies",
        "reader/heredoc:_expanding",
        "reader/lists:read_lines",
        "reader/lists:_read_commands",
        "reader/lists:_read_and_or",
        "reader/lists:_read_pipeline",
        "reader/operand:read_operand",
        "reader/operand:read_expression",
        "reader/words:read_word",
        "reader/words:read_double",
        "evaluator/script:_run_text",
    ),
    PAID: (
        "reader/braces:_tokens",
        "reader/braces:_product",
        "reader/braces:_pairs",
        "reader/braces:_sequence",
        "reader/words:make_word",
        "reader/words:has_patterns",
        "words:join",
        "evaluator/arithmetic:_Parser.expression",
        "evaluator/arithmetic:_Parser.operators",
        "evaluator/brackets:test_status",
        "evaluator/builtins:_bracket",
        "evaluator/builtins:_test",
        "evaluator/builtins:_let",
        "evaluator/machine:require_certain",
        "evaluator/classes:bracket",
        "evaluator/declare:declare",
        "evaluator/expand:expand_expression",
        "evaluator/expand:_plain_expression",
        "evaluator/expand:_quotes",
        "evaluator/own_folder:names_own_folder",
        "evaluator/expand:_joined",
        "evaluator/expand:_listed",
        "evaluator/fields:to_text",
        "evaluator/fields:to_pattern",
        "evaluator/fields:_separator",
        "evaluator/fields:_may_match",
        "evaluator/flow:source",
        "evaluator/formats:printf",
        "evaluator/gcloud_words:_path",
        "evaluator/gcloud_words:creates",
        "evaluator/inputs:_read_unknown",
        "evaluator/inputs:_assign_parts",
        "evaluator/inputs:_parts",
        "evaluator/matcher:_behind",
        "evaluator/numerals:number",
        "evaluator/operands:each",
        "evaluator/operators:_missing",
        "evaluator/operators:_operand",
        "evaluator/options:_set_positional",
        "evaluator/pattern:tokens",
        "evaluator/pattern:translate",
        "evaluator/pattern:_Translation._set",
        "evaluator/places:_operand",
        "evaluator/programs:_gcloud",
        "evaluator/programs:_script_file",
        "evaluator/programs:_child",
        "evaluator/regex:_Reader._set",
        "evaluator/regex:translate",
        "evaluator/scanner:Scanner.closing_bracket",
        "evaluator/simple:_splits",
        "evaluator/simple:_first_splitting",
        "evaluator/store:_add",
        "evaluator/traces:_options",
        "evaluator/traces:_edit",
        "evaluator/traces:_copy_tool",
        "evaluator/values:glue",
        "evaluator/fitting:_least",
        "evaluator/options:parse_options",
    ),
    TREE: (
        "evaluator/branches:_fits",
        "evaluator/execute:run_block",
        "evaluator/execute:_and_or",
        "evaluator/execute:_members",
        "evaluator/execute:_pipeline_status",
        "evaluator/redirects:apply",
        "evaluator/simple:_words",
        "evaluator/simple:_assign_only",
        "evaluator/simple:_with_environment",
        "evaluator/tests:_combined",
        "evaluator/machine:Shell.framed",
    ),
    FEW: (
        "reader/braces:_choices",
        "reader/compound:_count",
        "reader/compound:_body",
        "reader/operand:_give_back",
        "evaluator/arithmetic:_Parser.bare_operand",
        "evaluator/arithmetic:_Parser.variable",
        "evaluator/brackets:_joined",
        "evaluator/flow:leave_loop",
        "evaluator/flow:leave_function",
        "evaluator/gcloud_words:mentions_create",
        "evaluator/loops:_outer_loop",
        "evaluator/loops:_open_end",
        "evaluator/machine:Shell.doubt",
        "evaluator/machine:Shell.cast_doubt",
        "evaluator/machine:Shell.settle",
        "evaluator/machine:Shell._run_error_trap",
        "evaluator/memory:target",
        "evaluator/redirects:redirected",
        "evaluator/script:run_script",
        "evaluator/state:ShellState.find",
        "evaluator/state:ShellState.put",
        "evaluator/state:ShellState.drop",
        "evaluator/state:_join_rest",
        "evaluator/surgery:replace_matches",
        "evaluator/surgery:take_slice",
        "evaluator/tests:_expression",
        "evaluator/tests:_differ",
        "evaluator/tests:_numbers",
    ),
    SHELL: (
        "evaluator/state:ShellState.fork",
        "evaluator/state:ShellState.variables",
    ),
    FOLDER: (
        "evaluator/folder:resolve",
        "evaluator/folder:ScriptFolder._removed",
        "evaluator/folder:FolderView.__iter__",
        "evaluator/folder:FolderView.__len__",
        "evaluator/traces:touch_named",
        "evaluator/traces:_write_all",
        "evaluator/traces:_write_last",
        "evaluator/traces:_move",
        "evaluator/traces:_make_folder",
        "evaluator/traces:_remove",
        "evaluator/traces:_touch",
    ),
}


def test_every_loop_over_what_a_script_says_is_charged_or_has_its_reason():
    """A `while` in each of its rounds, any other loop once for all that it goes over."""
    explained = [name for names in REASONS.values() for name in names]
    assert sorted(uncharged_loops()) == sorted(explained)


def test_every_recursion_is_charged_or_counted():
    """No function comes back to itself without paying, or without its depth being counted."""
    assert unbounded_recursions() == []


def test_a_loop_that_charges_outside_of_itself_only_is_found():
    """The search itself: `while` is charged within, since nobody knows how often it goes round."""
    outside = ast.parse("def f(shell):\n    shell.budget.text(1)\n    while True:\n        pass\n").body[0]
    inside = ast.parse("def f(shell):\n    while True:\n        shell.budget.text(1)\n").body[0]
    loops = [
        next(node for node in ast.walk(tree) if isinstance(node, ast.While)) for tree in (outside, inside)
    ]
    assert [charges(loop) for loop in loops] == [False, True]
