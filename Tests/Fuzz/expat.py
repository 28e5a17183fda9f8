# SPDX-License-Identifier: Apache-2.0
"""Reads XML documents with expat and writes what is in each, for comparison with another parser.

Input and output are records of a length (four bytes, the highest first) and so many bytes. An input is the content of a
stream's root that declares `jabber:client` and the prefix `stream`; an output is the canonical form of the one element
in it, as TreeComparison.swift describes it. The length 0xFFFFFFFF alone stands for a document that expat refuses.
"""
import struct
import sys
from xml.parsers import expat

HEADER = (b"<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>")
FOOTER = b"</stream:stream>"
# A form feed cannot stand in a document.
SEPARATOR = "\x0c"


def field(text):
    octets = text.encode()
    return b"%d:%s" % (len(octets), octets)


def split(name):
    namespace, _, local = name.rpartition(SEPARATOR)
    return namespace, local


class Reader:
    def __init__(self):
        self.parts = []
        self.depth = 0
        self.elements = 0
        self.is_plain = True

    def start(self, name, attributes):
        self.depth += 1
        if self.depth == 1:
            return
        if self.depth == 2:
            self.elements += 1
        namespace, local = split(name)
        self.parts += [b"(", field(namespace), field(local)]
        pairs = sorted((*(part.encode() for part in split(key)), value) for key, value in attributes.items())
        for key_namespace, key, value in pairs:
            self.parts += [b"@", field(key_namespace.decode()), field(key.decode()), field(value)]

    def end(self, _name):
        if self.depth > 1:
            self.parts.append(b")")
        self.depth -= 1

    def text(self, data):
        if self.depth > 1:
            self.parts += [b"'", field(data)]
        elif data.strip(" \t\r\n"):
            self.is_plain = False

    def restricted(self, *_):
        # RFC 6120 §11.1: no comments, no processing instructions, no DTDs.
        self.is_plain = False


def read(document):
    reader = Reader()
    parser = expat.ParserCreate("UTF-8", SEPARATOR)
    parser.buffer_text = True
    parser.buffer_size = 1 << 16
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.CommentHandler = reader.restricted
    parser.ProcessingInstructionHandler = reader.restricted
    parser.StartDoctypeDeclHandler = reader.restricted
    try:
        parser.Parse(HEADER + document + FOOTER, True)
    except (expat.ExpatError, UnicodeError):
        return None
    return b"".join(reader.parts) if reader.is_plain and reader.elements == 1 else None


def main():
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        head = source.read(4)
        if len(head) < 4:
            return
        (length,) = struct.unpack(">I", head)
        result = read(source.read(length))
        if result is None:
            sink.write(b"\xff\xff\xff\xff")
        else:
            sink.write(struct.pack(">I", len(result)) + result)


main()
