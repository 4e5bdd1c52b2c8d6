"""The filter language that Google's APIs share (AIP-160), read into a tree.

Pub/Sub, Monitoring and Logging write comparisons and join them with NOT, AND and OR. What may be compared,
and what a comparison means, differs: each service gives the tree its own meaning.
"""

from localcloud.filters.parser import Grammar, parse
from localcloud.filters.regex import regex
from localcloud.filters.tokens import FilterError
from localcloud.filters.tree import (
    All,
    AnyOf,
    Bare,
    Comparison,
    FunctionCall,
    Node,
    Not,
    Predicate,
    Text,
    Value,
    compiled,
)

__all__ = [
    "All",
    "AnyOf",
    "Bare",
    "Comparison",
    "FilterError",
    "FunctionCall",
    "Grammar",
    "Node",
    "Not",
    "Predicate",
    "Text",
    "Value",
    "compiled",
    "parse",
    "regex",
]
