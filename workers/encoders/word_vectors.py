"""Texts as the mean of vectors of their words, from a file of word2vec, GloVe or fastText."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from workers.encoders import BadMachineFile, Reader, Setting, Vectors, unit_rows
from workers.encoders.common_space import words_of

LONGEST_WORD = 1000
FASTTEXT = (793712314).to_bytes(4, "little")
Line = tuple[str, Vectors]


class WordVectors(Reader):
    """The text form (.txt, .vec: a word and its numbers a line, with or without a first line that
    counts them) or the binary form of word2vec (.bin). Files begin with the most frequent words:
    the first `words` of them are read. Words are looked up in lower case."""

    kind = "words"

    def __init__(self, name: str, path: Path, words: int = 400_000) -> None:
        self.name = name
        self.settings: dict[str, Setting] = {"words": words}
        reading = _binary if path.suffix == ".bin" else _text
        self._row_of: dict[str, int] = {}
        rows: list[Vectors] = []
        try:
            with path.open("rb") as file:
                for word, vector in reading(file):
                    if len(rows) == words:
                        break
                    if self._row_of.setdefault(word.lower(), len(rows)) == len(rows):
                        rows.append(vector)
            self._vectors = np.stack(rows)
        except (ValueError, UnicodeDecodeError) as wrong:
            raise BadMachineFile(f"{path.name} is not a file of word vectors: {wrong}") from None

    def encode_described(self, groups: Sequence[Sequence[str]]) -> Vectors:
        """BISON's §3.1: the mean over all words of all captions; unknown words do not count."""
        sums = np.zeros((len(groups), self._vectors.shape[1]))
        for row, captions in enumerate(groups):
            words = (word for caption in captions for word in words_of(caption))
            known = [self._row_of[word] for word in words if word in self._row_of]
            sums[row] = self._vectors[known].sum(axis=0, dtype=np.float64)
        return unit_rows(sums)


def _text(file: BinaryIO) -> Iterator[Line]:
    length = 0
    for number, line in enumerate(file, start=1):
        word, _, rest = line.decode().rstrip().partition(" ")
        numbers = rest.split()
        if number == 1 and len(numbers) == 1 and word.isdigit():
            length = int(numbers[0])
            continue
        length = length or len(numbers)
        if not length or len(numbers) < length:
            raise ValueError(f"line {number} has {len(numbers)} numbers of {length}")
        # GloVe's largest file has words with spaces in them.
        word = " ".join([word, *numbers[:-length]])
        yield word, _finite(np.array(numbers[-length:], np.float32), number)


def _binary(file: BinaryIO) -> Iterator[Line]:
    first = file.readline(LONGEST_WORD)
    if first.startswith(FASTTEXT):
        raise ValueError("this is fastText's own model: take its .vec file")
    count, length = map(int, first.split())
    if not 0 < length < 1 << 16:
        raise ValueError(f"vectors of {length} numbers")
    for number in range(1, count + 1):
        word = _until_space(file).decode(errors="replace").lstrip("\n")
        data = file.read(4 * length)
        if len(data) < 4 * length:
            raise ValueError(f"it ends at word {number:,} of {count:,}")
        yield word, _finite(np.frombuffer(data, "<f4"), number)


def _until_space(file: BinaryIO) -> bytes:
    word = bytearray()
    while (byte := file.read(1)) not in (b"", b" "):
        word += byte
        if len(word) > LONGEST_WORD:
            raise ValueError("a word has no end")
    return bytes(word)


def _finite(vector: Vectors, number: int) -> Vectors:
    if not np.isfinite(vector).all():
        raise ValueError(f"word {number:,} has numbers that are not finite")
    return vector
