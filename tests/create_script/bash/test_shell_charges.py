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
        "read/commands:read_simple",
        "read/commands:_array",
        "read/compound:_if",
        "read/compound:_names",
        "read/compound:_case",
        "read/compound:_clause",
        "read/compound:redirected",
        "read/conditions:_or",
        "read/conditions:_and",
        "read/heredoc:read_bodies",
        "read/heredoc:_expanding",
        "read/lists:read_lines",
        "read/lists:_read_commands",
        "read/lists:_read_and_or",
        "read/lists:_read_pipeline",
        "read/operand:read_operand",
        "read/operand:read_expression",
        "read/words:read_word",
        "read/words:read_double",
        "run/script:_run_text",
    ),
    PAID: (
        "read/braces:_tokens",
        "read/braces:_product",
        "read/braces:_pairs",
        "read/braces:_sequence",
        "read/words:make_word",
        "read/words:has_patterns",
        "words:join",
        "run/arithmetic:_Parser.expression",
        "run/arithmetic:_Parser.operators",
        "run/brackets:test_status",
        "run/builtins:_bracket",
        "run/builtins:_test",
        "run/builtins:_let",
        "run/certainty:require_certain",
        "run/classes:bracket",
        "run/declare:declare",
        "run/expand:expand_expression",
        "run/expand:_plain_expression",
        "run/expand:_quotes",
        "run/expand:_joined",
        "run/expand:_listed",
        "run/fields:to_text",
        "run/fields:to_pattern",
        "run/fields:_separator",
        "run/fields:_may_match",
        "run/flow:source",
        "run/formats:printf",
        "run/gcloud_words:_path",
        "run/gcloud_words:creates",
        "run/inputs:_read_unknown",
        "run/inputs:_assign_parts",
        "run/inputs:_parts",
        "run/matcher:_behind",
        "run/numerals:number",
        "run/operands:each",
        "run/operators:_missing",
        "run/operators:_operand",
        "run/options:_set_positional",
        "run/pattern:tokens",
        "run/pattern:translate",
        "run/pattern:_Translation._set",
        "run/places:_operand",
        "run/programs:_gcloud",
        "run/programs:_script_file",
        "run/programs:_child",
        "run/regex:_Reader._set",
        "run/regex:translate",
        "run/scanner:Scanner.closing_bracket",
        "run/simple:_splits",
        "run/simple:_first_splitting",
        "run/store:_add",
        "run/traces:_options",
        "run/traces:_edit",
        "run/traces:_copy_tool",
        "run/values:glue",
        "run/fitting:_least",
        "run/options:parse_options",
    ),
    TREE: (
        "run/branches:_fits",
        "run/execute:run_block",
        "run/execute:_and_or",
        "run/execute:_members",
        "run/execute:_pipeline_status",
        "run/redirects:apply",
        "run/simple:_words",
        "run/simple:_assign_only",
        "run/simple:_with_environment",
        "run/tests:_combined",
        "run/machine:Shell.framed",
    ),
    FEW: (
        "read/braces:_choices",
        "read/compound:_count",
        "read/compound:_body",
        "read/operand:_give_back",
        "run/arithmetic:_Parser.bare_operand",
        "run/arithmetic:_Parser.variable",
        "run/brackets:_joined",
        "run/flow:leave_loop",
        "run/flow:leave_function",
        "run/gcloud_words:mentions_create",
        "run/loops:_outer_loop",
        "run/loops:_open_end",
        "run/machine:Shell.doubt",
        "run/machine:Shell.cast_doubt",
        "run/machine:Shell.settle",
        "run/machine:Shell._run_error_trap",
        "run/memory:target",
        "run/redirects:redirected",
        "run/script:run_script",
        "run/state:State.find",
        "run/state:State.put",
        "run/state:State.drop",
        "run/state:_join_rest",
        "run/surgery:replace_matches",
        "run/surgery:take_slice",
        "run/tests:_expression",
        "run/tests:_differ",
        "run/tests:_numbers",
    ),
    SHELL: ("run/state:State.fork", "run/state:State.variables", "run/state:State.blur"),
    FOLDER: (
        "run/folder:resolve",
        "run/folder:Folder._removed",
        "run/folder:View.__iter__",
        "run/folder:View.__len__",
        "run/traces:touch_named",
        "run/traces:_write_all",
        "run/traces:_write_last",
        "run/traces:_move",
        "run/traces:_make_folder",
        "run/traces:_remove",
        "run/traces:_touch",
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
