r"""Backslash escapes of `$'…'`, `printf` and `echo -e`."""

import re

from spotwarden.create_script.refusal import ScriptRefused

_NAMED = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
# printf's %b and echo -e write octal numbers with a leading zero.
_PRINTED = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(0?[0-7]{1,3})|(\0)|(.))", re.DOTALL
)
_LARGEST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def ansi(text: str, line: int) -> str:
    r"""Return the value of `$'text'`; raise `ScriptRefused` for `\0`, after which bash drops the rest."""
    return _bytes_joined(_ANSI.sub(lambda found: _value(found, line, keeps="'\"?\\"), text))


def printed(text: str, line: int) -> str:
    """Return `text` with the escapes of printf's format replaced."""
    return _bytes_joined(_PRINTED.sub(lambda found: _value(found, line, keeps="'\"?\\"), text))


def _value(found: re.Match[str], line: int, *, keeps: str) -> str:
    byte, short, long, octal, control, sign = found.groups()
    if byte or octal:
        return _byte(int(byte, 16) if byte else int(octal, 8) & 0xFF, line)
    if short or long:
        return _character(int(short or long, 16), line)
    if control:
        return _byte(ord(control.upper()) & 0x1F, line)
    if sign in keeps:
        return str(sign)
    return _NAMED.get(sign, "\\" + sign)


def _byte(number: int, line: int) -> str:
    if number == 0:
        raise ScriptRefused("a NUL character cannot be part of a value", line=line)
    return bytes([number]).decode("utf-8", "surrogateescape")


def _character(number: int, line: int) -> str:
    if number == 0 or number > _LARGEST or number in _SURROGATES:
        raise ScriptRefused(f"there is no character number {number:x}", line=line)
    return chr(number)


def _bytes_joined(text: str) -> str:
    """Let bytes written one by one become the character they spell."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
