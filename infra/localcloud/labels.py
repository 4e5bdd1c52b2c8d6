"""Labels of resources, by the rules of "Labeling resources". Pure."""

MOST_LABELS = 64
LONGEST = 63


def is_label(key: str, value: str) -> bool:
    """Whether a resource can have this label."""
    return bool(key) and key[0].isalpha() and _is_text(key) and _is_text(value)


def _is_text(text: str) -> bool:
    letters = all(letter in "-_" or (letter.isalnum() and letter == letter.lower()) for letter in text)
    return letters and len(text) <= LONGEST
