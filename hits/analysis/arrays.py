"""The arrays that analyses take, and how columns of names become them."""

from collections.abc import Hashable, Sequence
from tokenize import TokenError

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hits.analysis.errors import DegenerateInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
# A header that lies makes numpy ask for more memory, more digits or more brackets than there are.
NOT_NPY = (ValueError, ArithmeticError, OSError, EOFError, MemoryError, RuntimeError, TokenError)


def coded(names: Sequence[Hashable]) -> tuple[Ints, list[Hashable]]:
    """Codes from 0 on, in the order of first appearance, and the names they stand for."""
    known: dict[Hashable, int] = {}
    codes = np.fromiter((known.setdefault(name, len(known)) for name in names), np.int64)
    return codes, list(known)


def finite(values: ArrayLike, what: str) -> Floats:
    """Numbers as one flat array, refused when there are none or some are not finite."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or numbers.size == 0:
        raise DegenerateInput(f"There are no {what}.")
    if not np.isfinite(numbers).all():
        raise DegenerateInput(f"Some {what} are not finite numbers.")
    return numbers


def same_length(**columns: NDArray[np.generic]) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise DegenerateInput(f"Columns differ in length ({told}).")
