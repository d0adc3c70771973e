"""The lark grammar of expressions, and the messages of syntax errors.

Operator precedence is that of Java. Words are read as names first (`order` is not `or`), so keywords of
unsupported features are searched for before parsing: the message then names the feature.
"""

from collections.abc import Callable
from typing import Any, cast

import lark

from motorpool.actors.rules.expressions.errors import ExpressionError

_GRAMMAR = r"""
start: _script?
_script: item+ _last? | _last
?item: expression ";"
    | ";"                               -> nothing
    | "return" expression ";"           -> give
    | choice
_last: expression | given
given: "return" expression              -> give
choice: "if" "(" expression ")" branch ["else" branch]
?branch: block
    | expression ";"?
    | ";"                               -> nothing
    | "return" expression ";"?          -> give
    | choice
// In a branch {a} is a block that holds an expression; elsewhere it is a set of one value.
block.2: "{" "}" | "{" expression "}" | "{" _script "}"

?expression: disjunction
    | disjunction "?" expression ":" expression   -> ternary
    | disjunction "?:" expression                 -> elvis
    | disjunction "??" expression                 -> coalesce
?disjunction: conjunction | conjunction (("||" | "or") conjunction)+    -> either
?conjunction: bit_or | bit_or (("&&" | "and") bit_or)+                  -> both
?bit_or: bit_xor | bit_xor (OR bit_xor)+                                -> chain
?bit_xor: bit_and | bit_and (XOR bit_and)+                              -> chain
?bit_and: equality | equality (AND equality)+                           -> chain
?equality: relation | relation (same relation)+                         -> chain
?relation: shift | shift (related shift)+                               -> chain
?shift: sum | sum (SHIFT sum)+                                          -> chain
?sum: product | product (SIGN product)+                                 -> chain
?product: unary | unary (times unary)+                                  -> chain
!same: "==" | "!=" | "eq" | "ne"
!related: "<" | "<=" | ">" | ">=" | "lt" | "le" | "gt" | "ge" | "=~" | "!~" | "=^" | "!^" | "=$" | "!$"
!times: "*" | "/" | "%" | "div" | "mod"

?unary: postfix
    | SIGN unary                                  -> sign
    | "~" unary                                   -> complement
    | ("!" | "not") unary                         -> negation
    | "empty" unary                               -> emptiness
    | "size" unary                                -> length
?postfix: primary
    | postfix (DOT | SAFE) name                   -> member
    | postfix (DOT | SAFE) name arguments         -> method
    | postfix "[" expression "]"                  -> at
arguments: "(" [expression ("," expression)*] ")"
!name: NAME | STRING | "size" | "empty" | "and" | "or" | "not" | "if" | "else" | "return" | "true" | "false"
    | "null" | "NaN" | "div" | "mod" | "eq" | "ne" | "lt" | "le" | "gt" | "ge"
?primary: "(" expression ")"
    | NAME                                        -> variable
    | NAME arguments                              -> function
    | FUNCTION arguments                          -> function
    | INTEGER                                     -> integer
    | REAL                                        -> real
    | STRING                                      -> string
    | REGEX                                       -> regex
    | TEMPLATE                                    -> template
    | "true"                                      -> true
    | "false"                                     -> false
    | "null"                                      -> nothing
    | "NaN"                                       -> nan
    | "[" [expression ("," expression)* ","?] "]" -> items
    | "{" "}"                                     -> members
    | "{" expression ("," expression)* "}"        -> members
    | "{" ":" "}"                                 -> entries
    | "{" entry ("," entry)* "}"                  -> entries
entry: expression ":" expression

OR: "|"
XOR: "^"
AND: "&"
SIGN: "+" | "-"
SHIFT: "<<" | ">>" | ">>>"
DOT: "."
SAFE: /\?\.(?![0-9])/
FUNCTION.3: /math[ \t]*:[ \t]*[A-Za-z]\w*(?=[ \t]*\()/
REAL.3: /([0-9]*\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|[0-9]+(?=[fFdDbB]))[fFdDbB]?(?!\w)/
INTEGER.2: /(0[xX][0-9a-fA-F]+|[0-9]+)[lLhH]?(?!\w)/
NAME: /(?![0-9])[\w$@]+/
STRING.2: /'(\\[\s\S]|[^'\\])*'|"(\\[\s\S]|[^"\\])*"/
TEMPLATE.2: /`(\\[\s\S]|[^`\\])*`/
REGEX.2: /~\/(\\[\s\S]|[^\/\\\n])+\//
COMMENT.4: /##[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\//
%ignore COMMENT
%ignore /\s+/
"""

_UNSUPPORTED = {
    **dict.fromkeys(("for", "while", "do", "break", "continue"), "loops"),
    **dict.fromkeys(("var", "let", "const"), "variables of one's own"),
    **dict.fromkeys(("new", "import", "pragma"), "other classes"),
    **dict.fromkeys(("function", "lambda", "try", "catch", "throw", "switch"), "functions and errors"),
}


Parser = Callable[[str], Any]
"""Parses a text and returns what the builder made of it; raises ExpressionError if it is invalid."""


def make_parser(builder: "lark.Transformer[lark.Token, object]") -> Parser:
    """Create a parser; building its tables takes some tenths of a second."""
    machine = lark.Lark(_GRAMMAR, parser="lalr", lexer="basic", transformer=builder, maybe_placeholders=False)

    def parse(text: str) -> object:
        try:
            # Lark.lex() would build a lexer for each text.
            parser = machine.parse_interactive(text)
            tokens = []
            before = ""
            for token in parser.lexer_thread.lex(parser.parser_state):  # type: ignore[no-untyped-call]
                if token.type == "NAME" and token in _UNSUPPORTED and before not in {".", "?."}:
                    raise ExpressionError(f"{_UNSUPPORTED[token]} are not available", token.start_pos)
                before = token.value
                tokens.append(token)
            for token in tokens:
                parser.feed_token(token)
            return parser.feed_eof(tokens[-1] if tokens else None)  # type: ignore[no-untyped-call]
        except lark.exceptions.UnexpectedInput as error:
            raise _explain(text, error) from None

    return parse


def _explain(text: str, error: lark.exceptions.UnexpectedInput) -> ExpressionError:
    if isinstance(error, lark.exceptions.UnexpectedToken) and error.token.type == "$END":
        return ExpressionError("the expression ends too early", len(text))
    position = cast("int", error.pos_in_stream)  # lark declares it as optional
    if isinstance(error, lark.exceptions.UnexpectedToken):
        return ExpressionError(f"unexpected {str(error.token)[:40]!r}", position)
    found = text[position]
    if found in "'\"`":
        return ExpressionError("a text without an end", position)
    if found == "=":
        return ExpressionError("assignments are not available, compare with ==", position)
    return ExpressionError(f"unexpected {found!r}", position)
