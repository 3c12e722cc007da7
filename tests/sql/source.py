"""Finds the SQL in the program's source: string literals where a statement or a piece of one is taken (db::Sql)."""

import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VERB = re.compile(r"\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s")

RAW = re.compile(r'R"([^()\\ ]*)\((.*?)\)\1"', re.S)
TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<string>(?:u8)?"(?:[^"\\\n]|\\.)*")
  | (?P<char>'(?:[^'\\\n]|\\.)+')
  | (?P<number>\d(?:['.]?\w)*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<punct>::|->|.)
""", re.X | re.S | re.M)
DEFINE = re.compile(r"\s*#\s*define\s+(\w+)[ \t]((?:[^\n\\]|\\.)*)", re.S)
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'"}


class Token:
    def __init__(self, kind, text, line):
        self.kind, self.text, self.line = kind, text, line

    def __repr__(self):
        return f"{self.text}@{self.line}"


def unquote(literal):
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[0]), literal[literal.index('"') + 1:-1], flags=re.S)


def scan(text, macros, line=1):
    """Tokens; adjacent strings, and macros that are nothing but strings, are one."""
    at, tokens = 0, []

    def add(kind, value):
        if kind == "string" and tokens and tokens[-1].kind == "string":
            tokens[-1].text += value
        else:
            tokens.append(Token(kind, value, line))

    while at < len(text):
        found = RAW.match(text, at)
        if found:
            add("string", found[2])
        else:
            found = TOKEN.match(text, at)
            kind = found.lastgroup
            if kind == "directive":
                define = DEFINE.match(found[0])
                if define:
                    body = scan(define[2].replace("\\\n", " "), macros)
                    if len(body) == 1 and body[0].kind == "string":
                        macros[define[1]] = body[0].text
            elif kind == "string":
                add("string", unquote(found[0]))
            elif kind == "name" and found[0] in macros:
                add("string", macros[found[0]])
            elif kind != "skip":
                add(kind, found[0])
        line += text.count("\n", at, found.end())
        at = found.end()
    return tokens


PAIRS = {"(": ")", "{": "}", "[": "]"}
# What a session takes a whole statement by, beside Query<kName>() and One<kName>().
CALLS = ("Run", "RunOne", "FindInt", "FindText", "GetInt", "FindTexts", "Exists")


def closing(tokens, i):
    """The index of what closes the bracket at i."""
    depth = 0
    for j in range(i, len(tokens)):
        if tokens[j].text in PAIRS and tokens[j].kind == "punct":
            depth += 1
        elif tokens[j].text in PAIRS.values() and tokens[j].kind == "punct":
            depth -= 1
            if depth == 0:
                return j
    raise AssertionError(f"nothing closes {tokens[i]}")


def items(tokens, i):
    """What stands between the bracket at i and its end, split at its commas."""
    end, found, start = closing(tokens, i), [], i + 1
    j = start
    while j < end:
        if tokens[j].kind == "punct" and tokens[j].text in PAIRS:
            j = closing(tokens, j)
        elif tokens[j].kind == "punct" and tokens[j].text == ",":
            found.append(tokens[start:j])
            start = j + 1
        j += 1
    found.append(tokens[start:end])
    return found


def literals(tokens):
    """The strings, but those that are arguments of functions; Sql("…") and braces are none."""
    found, i = [], 0
    while i < len(tokens):
        if tokens[i].kind == "string":
            found.append((tokens[i].text, tokens[i].line))
        elif tokens[i].text == "(" and i > 0 and tokens[i - 1].kind == "name" and tokens[i - 1].text != "Sql":
            i = closing(tokens, i)
        i += 1
    return found


class File:
    """The SQL of one file.
    statements, conditions, sorts: (text, line); either: pieces of which the place does not say what they are
    closings: texts that end a subquery in which a statement of the builder is open, the innermost first
    calls: how often a statement or a piece is taken by a call, with a literal or a name"""

    def __init__(self, path):
        self.path = path
        self.statements, self.conditions, self.sorts, self.either, self.closings = [], [], [], [], []
        self.calls = 0
        self.tokens = scan(path.read_text(), {})
        self.statements = [(token.text, token.line) for token in self.tokens if token.kind == "string" and VERB.match(token.text)]
        structs = self._structs()
        for i, token in enumerate(self.tokens):
            if token.kind == "name" and i + 1 < len(self.tokens):
                self._look(i, token, structs)

    def __str__(self):
        return str(self.path.relative_to(ROOT))

    def _structs(self):
        """Types of this file that have members of type Sql, and Sql itself."""
        found = {"Sql"}
        for i, token in enumerate(self.tokens[:-2]):
            if token.text == "struct" and self.tokens[i + 2].text == "{":
                body = self.tokens[i + 2:closing(self.tokens, i + 2)]
                if any(inner.text == "Sql" for inner in body):
                    found.add(self.tokens[i + 1].text)
        return found

    def _look(self, i, token, structs):
        after, before = self.tokens[i + 1], self.tokens[i - 1]
        is_member = before.text in (".", "->")
        if after.text == "<" and is_member and token.text in ("Query", "One"):
            self.calls += 1  # its statement is a constant, which is found where it is declared
        elif after.text == "(" and is_member and token.text in CALLS:
            self.calls += 1
            first = items(self.tokens, i + 1)[0]
            for text, line in literals(first):
                assert VERB.match(text), f"{self}:{line}: not the beginning of a statement: {text}"
            assert literals(first) or len(first) == 1, f"{self}:{token.line}: what does {token.text} take?"
        elif after.text == "(" and is_member and token.text in ("And", "AndEach"):
            self.calls += 1
            self.conditions += self._pieces(items(self.tokens, i + 1)[0], token)
        elif after.text == "(" and is_member and token.text == "OrderBy":
            self.calls += 1
            self.sorts += self._pieces(items(self.tokens, i + 1)[0], token)
        elif after.text == "(" and is_member and token.text == "EndSubquery":
            self.closings += [text for text, _ in literals(items(self.tokens, i + 1)[0])]
        elif after.text == "{" and before.text != "struct" and token.text == "ListFilter":
            self.conditions += self._pieces(items(self.tokens, i + 1)[1], token)
        elif after.text == "{" and before.text != "struct" and token.text == "ListSort":
            for item in items(self.tokens, i + 1)[1:3]:
                self.sorts += self._pieces(item, token)
        elif token.text in structs:
            self._look_at_declaration(i)

    def _pieces(self, tokens, taker):
        found = [(text, line) for text, line in literals(tokens) if text]
        is_known_elsewhere = any(token.kind == "name" for token in tokens)
        assert found or is_known_elsewhere or tokens[0].text == "", f"{self}:{taker.line}: what does {taker.text} take?"
        return found

    def _look_at_declaration(self, i):
        """const Sql name = …;  Sql(…)  Table name[] = {…};  std::array<Table, 2> name = {…};"""
        j = i + 1
        if self.tokens[j].text == "(":
            end = closing(self.tokens, j)
        else:
            while self.tokens[j].text in (">", ",", "[", "]") or self.tokens[j].kind in ("number", "name"):
                j += 1
            if self.tokens[j].text not in ("=", "{"):
                return  # a parameter, a member, the type of a result
            end = j
            while self.tokens[end].text != ";":
                end = closing(self.tokens, end) if self.tokens[end].text in PAIRS else end + 1
        known = set(self.statements)
        self.either += [piece for piece in literals(self.tokens[i:end]) if piece[0] and piece not in known]


@functools.cache
def files():
    """Of the rooms below db/, which runs PRAGMAs of its own."""
    lines = (ROOT / "src/ROOMS").read_text().splitlines()
    rooms = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    return [File(path) for room in rooms[rooms.index("db") + 1:] for path in sorted((ROOT / "src" / room).rglob("*"))
            if path.suffix in (".cc", ".h")]


def closed(sql):
    """A base may end inside a subquery, which the builder closes (EndSubquery)."""
    depth = sql.count("(") - sql.count(")")
    (closings,) = [file.closings for file in files() if file.closings]
    return sql + "".join(closings[len(closings) - depth:])
