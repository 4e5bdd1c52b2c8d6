"""Finds the loops and recursions of the reader and the evaluator that charge nothing, in their source."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import spotwarden.create_script.bash

HOME = Path(spotwarden.create_script.bash.__path__[0])
CHARGES = frozenset(["text", "items", "pieces", "node", "step", "charge"])
BOUNDS = frozenset(["nested", "deeper"])
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> Iterator[tuple[str, ast.Module]]:
    """Each module by its name below `spotwarden.create_script.bash`."""
    for path in sorted(HOME.rglob("*.py")):
        yield str(path.relative_to(HOME)).removesuffix(".py"), ast.parse(path.read_text())


def functions(name: str, tree: ast.AST, within: str = "") -> Iterator[tuple[str, Function]]:
    """Each outermost function and method as `module:function`; those inside belong to it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield f"{name}:{within}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from functions(name, node, f"{node.name}.")


def charges(tree: ast.AST) -> bool:
    """Whether something in here charges a budget."""
    return any(isinstance(node, ast.Call) and _is_charge(node.func) for node in ast.walk(tree))


def _is_charge(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):
        return called.id == "_charge"
    if not isinstance(called, ast.Attribute) or called.attr not in CHARGES:
        return False
    owner = called.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return name.lstrip("_") in ("budget", "memory")


def uncharged_loops() -> dict[str, list[int]]:
    """The functions with a loop that charges nothing, and the lines of these loops.

    A `while` must charge in each round, since nobody knows their number; any other loop goes over something
    whose length is known, so that the function around it may charge for all of it.
    """
    found: dict[str, list[int]] = {}
    for module, tree in sources():
        for name, function in functions(module, tree):
            charged = charges(function)
            for node in ast.walk(function):
                covered = charges(node) if isinstance(node, ast.While) else charged
                if isinstance(node, LOOPS) and not covered:
                    found.setdefault(name, []).append(node.lineno)
    return found


# What a variable of this name holds wherever it occurs: a class, or a table of functions.
OWNERS = {
    "shell": "Shell",
    "cursor": "Cursor",
    "memory": "Variables",
    "folder": "ScriptFolder",
    "state": "ShellState",
    "programs": "_PROGRAMS",
    "grammar": "_GRAMMAR",
    "expander": "_EXPANDER",
    "parser": "_Parser",
    "fields": "_Fields",
}


# Modules that are imported as such; a variable of such a name holds no functions.
MODULES = frozenset(
    [
        "branches",
        "fitting",
        "flow",
        "inputs",
        "loops",
        "matcher",
        "options",
        "patterns",
        "places",
        "regex",
        "surgery",
        "wrappers",
    ]
)


def _definitions() -> Iterator[tuple[str, ast.AST]]:
    """Functions, methods by class and name, and tables of functions."""
    for _, tree in sources():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                yield from (
                    (f"{node.name}.{inner.name}", inner) for inner in node.body if isinstance(inner, Function)
                )
            elif isinstance(node, Function):
                yield node.name, node
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(target, ast.Name) and node.value is not None:
                    yield target.id, node.value


def _mentioned(name: str, tree: ast.AST) -> Iterator[str]:
    """What a function may call: names, methods of what is known by its variable, functions of modules."""
    own = name.partition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            value = node.value
            holder = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
            owner = own if holder in ("self", "super") else OWNERS.get(holder.lstrip("_"), "")
            if owner.isupper():
                yield owner
            elif owner:
                yield f"{owner}.{node.attr}"
            elif holder in MODULES:
                yield node.attr


def unbounded_recursions() -> list[list[str]]:
    """Circles of functions that may call each other, none of which charges or counts its depth.

    Functions of the same name in two modules are taken for one: that finds too many circles, never too few.
    """
    graph: dict[str, set[str]] = {}
    stopping: set[str] = set()
    for name, node in _definitions():
        mentioned = set(_mentioned(name, node))
        bare = {mention.rpartition(".")[2] for mention in mentioned}
        if charges(node) or bare & BOUNDS:
            stopping.add(name)
        graph.setdefault(name, set()).update(mentioned)
    for name in stopping:
        del graph[name]
    known = {name: following & graph.keys() for name, following in graph.items()}
    return [circle for name in sorted(known) if (circle := _circle(known, name))]


def _circle(graph: Mapping[str, set[str]], start: str) -> list[str]:
    """Return a way from a function back to itself; empty where there is none."""
    ways = [[start]]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        for following in sorted(graph.get(way[-1], ())):
            if following == start:
                return [*way, start]
            if following not in seen:
                seen.add(following)
                ways.append([*way, following])
    return []
