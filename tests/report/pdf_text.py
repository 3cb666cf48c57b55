"""The text of each page of a PDF that Chromium printed: just enough of the format to see which words stand where."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

_OBJECT = re.compile(rb"(\d+) 0 obj\b(.*?)\bendobj", re.DOTALL)
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_SHOWN = re.compile(rb"/(F\d+)\s+[\d.]+\s+Tf|<([0-9A-Fa-f]+)>|/(X\d+)\s+Do", re.DOTALL)


def page_texts(path: Path) -> list[str]:
    """Return the text of every page, without spaces, as glyphs stand in it."""
    objects = {int(number): body for number, body in _OBJECT.findall(path.read_bytes())}
    pages = [body for body in objects.values() if re.search(rb"/Type\s*/Page\b(?!s)", body)]
    return [_text(_reference(page, b"Contents", objects), page, objects) for page in pages]


def _reference(body: bytes, key: bytes, objects: dict[int, bytes]) -> bytes:
    found = re.search(rb"/" + key + rb"\s+(\d+) 0 R", body)
    return objects[int(found[1])] if found else b""


def _data(body: bytes) -> bytes:
    found = _STREAM.search(body)
    if found is None:
        return b""
    # The line break before the end may belong to the data; a stream knows its own end.
    return zlib.decompressobj().decompress(found[1] + b"\r\n") if b"FlateDecode" in body else found[1]


def _text(content: bytes, owner: bytes, objects: dict[int, bytes]) -> str:
    resources = _reference(owner, b"Resources", objects) or owner
    named = {name: int(n) for name, n in re.findall(rb"/([FX]\d+)\s+(\d+) 0 R", resources)}
    glyphs: dict[int, str] = {}
    text = ""
    for font, shown, inner in _SHOWN.findall(_data(content)):
        if font:
            glyphs = _glyphs(_reference(objects[named[font]], b"ToUnicode", objects))
        elif shown:
            text += "".join(glyphs.get(int(shown[i : i + 4], 16), "?") for i in range(0, len(shown), 4))
        elif inner in named:
            text += _text(objects[named[inner]], objects[named[inner]], objects)
    return text


def _glyphs(body: bytes) -> dict[int, str]:
    """Return what a font's glyphs stand for."""
    found: dict[int, str] = {}
    data = _data(body)
    for block in re.findall(rb"beginbfchar(.*?)endbfchar", data, re.DOTALL):
        for glyph, letter in re.findall(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>", block):
            found[int(glyph, 16)] = bytes.fromhex(letter.decode()).decode("utf-16-be")
    for block in re.findall(rb"beginbfrange(.*?)endbfrange", data, re.DOTALL):
        for low, high, first in re.findall(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>", block):
            for k in range(int(high, 16) - int(low, 16) + 1):
                found[int(low, 16) + k] = chr(int(first, 16) + k)
    return found
