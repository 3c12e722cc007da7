"""JSON with exact numbers: money and quantities are whole numbers here and decimals on the wire."""

import decimal
import functools
import json


class Scaled(float):
    """A whole number of 10^-places that to_json() writes as its exact decimal, with all its places."""

    def __new__(cls, number, places):
        self = super().__new__(cls, 0)
        self.text = format(decimal.Decimal(number).scaleb(-places), "f")
        return self

    def __repr__(self):
        return self.text

    @property
    def shortest(self):
        return self.text.rstrip("0").rstrip(".") if "." in self.text else self.text


@functools.cache
def whole(text, places):
    """The inverse: "12.5" with 2 places is 1250. Fails where the text has more decimals than that."""
    scaled = decimal.Decimal(text).scaleb(places)
    assert scaled == scaled.to_integral_value(), (text, places)
    return int(scaled)


def to_json(body, shortest=False):
    """With `shortest` the exact bytes that the server writes: no insignificant zeros, text as UTF-8."""
    if isinstance(body, dict):
        return "{" + ",".join(json.dumps(k) + ":" + to_json(v, shortest) for k, v in body.items()) + "}"
    if isinstance(body, (list, tuple)):
        return "[" + ",".join(to_json(v, shortest) for v in body) + "]"
    if isinstance(body, Scaled):
        return body.shortest if shortest else body.text
    return json.dumps(body, ensure_ascii=not shortest)


def from_json(text):
    """Parses JSON, keeping every number as its text."""
    return json.loads(text, parse_float=str, parse_int=str)


def members_of(text):
    """(name, text of name and value) of each member of an object that was written without spaces."""
    decoder = json.JSONDecoder()
    at = 1
    while text[at - 1] != "}":
        name, colon = decoder.raw_decode(text, at)
        _, end = decoder.raw_decode(text, colon + 1)
        yield name, text[at:end]
        at = end + 1


def rows_of(text):
    """The text of each row of a list's body."""
    decoder, at = json.JSONDecoder(), text.index("[") + 1
    while text[at] == "{":
        _, end = decoder.raw_decode(text, at)
        yield text[at:end]
        at = end + (text[end] == ",")
