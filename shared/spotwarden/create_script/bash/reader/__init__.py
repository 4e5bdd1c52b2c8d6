"""bash text → trees, with bash's own rules of where words, lines and commands end."""
