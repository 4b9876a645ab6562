"""Opcodes: three leaves, then the operator table in its own order."""

from alder.expr.operators import OPERATORS

VAR, PAR, CST = 0, 1, 2
N_LEAVES = 3
OPCODES = {name: N_LEAVES + row for row, name in enumerate(OPERATORS)}
ARITIES = (0, 0, 0, *(row.arity for row in OPERATORS.values()))

ADD = OPCODES["add"]
SUB = OPCODES["sub"]
MUL = OPCODES["mul"]
DIV = OPCODES["div"]
NEG = OPCODES["neg"]
POW = OPCODES["pow"]
POWP = OPCODES["powp"]
EXP = OPCODES["exp"]
LOG = OPCODES["log"]
SQRT = OPCODES["sqrt"]
TANH = OPCODES["tanh"]
SIN = OPCODES["sin"]
COS = OPCODES["cos"]
ASIN = OPCODES["asin"]
ACOS = OPCODES["acos"]
ATAN = OPCODES["atan"]
ABS = OPCODES["abs"]
MAX = OPCODES["max"]
MIN = OPCODES["min"]
SIGN = OPCODES["sign"]
SOFTSIGN = OPCODES["softsign"]
GATE = OPCODES["gate"]
WHERE = OPCODES["where"]

MAX_PARAMETERS = 62
"""A dependency mask is one 64-bit integer."""
