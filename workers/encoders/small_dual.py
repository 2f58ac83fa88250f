"""A small dual encoder that learns here: pixels by convolutions, captions by their words."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
import torch
from PIL import Image
from torch import nn

from workers.encoders import Arrays, Learner, Setting, Vectors, unit_rows
from workers.encoders.common_space import frequent, words_of

_SIDE = 16
_FEWEST_CAPTIONS_A_WORD = 3


class SmallDual(Learner):
    """Two towers, drawn together by the symmetric contrastive loss of CLIP (Radford et al. 2021).

    Training is seeded. Vectors are computed in float64, so that they do not depend on a batch.
    """

    kind = "small_dual"
    version = "1"
    defaults: ClassVar[dict[str, Setting]] = {
        "dimension": 64,
        "words": 1000,
        "steps": 150,
        "batch": 128,
        "rate": 0.005,
        "temperature": 0.1,
        "seed": 0,
    }

    _column_of: dict[str, int]
    _towers: nn.ModuleDict

    def fit(self, images: Iterable[Image.Image], captions: Iterable[Iterable[str]]) -> None:
        texts = [list(of_one) for of_one in captions]
        pixels = _pixels(images)
        if len(pixels) != len(texts):
            raise ValueError(f"{len(pixels)} images do not match captions of {len(texts)}")
        flat = [caption for of_one in texts for caption in of_one]
        often = frequent((words_of(caption) for caption in flat), _FEWEST_CAPTIONS_A_WORD)
        self._column_of = {word: i for i, word in enumerate(often[: int(self.settings["words"])])}
        if not self._column_of:
            raise ValueError("too few captions to learn from")
        owners = torch.tensor([own for own, of_one in enumerate(texts) for _ in of_one])
        threads = torch.get_num_threads()
        # Steps are too small for threads, which would wait for each other.
        torch.set_num_threads(1)
        try:
            self._train(pixels, self._word_counts(flat).float(), owners)
        finally:
            torch.set_num_threads(threads)

    def _train(self, pixels: torch.Tensor, counts: torch.Tensor, owners: torch.Tensor) -> None:
        random = torch.Generator().manual_seed(int(self.settings["seed"]))
        self._towers = self._new_towers(random)
        rate, size = float(self.settings["rate"]), int(self.settings["batch"])
        learning = torch.optim.Adam(self._towers.parameters(), lr=rate)
        for _ in range(int(self.settings["steps"])):
            chosen = torch.randint(len(owners), (min(size, len(owners)),), generator=random)
            seen = nn.functional.normalize(self._towers["images"](pixels[owners[chosen]]))
            read = nn.functional.normalize(self._towers["captions"](counts[chosen]))
            scores = seen @ read.T / float(self.settings["temperature"])
            # Captions of one image are all right for it.
            same = (owners[chosen][:, None] == owners[chosen]).float()
            same /= same.sum(1, keepdim=True)
            loss = nn.functional.cross_entropy(scores, same)
            loss = loss + nn.functional.cross_entropy(scores.T, same)
            learning.zero_grad()
            loss.backward()
            learning.step()
        self._towers = self._towers.double().requires_grad_(False)

    def encode_images(self, images: Sequence[Image.Image]) -> Vectors:
        return self._encoded("images", _pixels(images).double())

    def encode_captions(self, captions: Sequence[str]) -> Vectors:
        return self._encoded("captions", self._word_counts(captions))

    def learned(self) -> Arrays:
        weights = {name: value.numpy() for name, value in self._towers.state_dict().items()}
        return {"words": np.array(list(self._column_of)), **weights}

    def restore(self, arrays: Arrays) -> None:
        self._column_of = {str(word): i for i, word in enumerate(arrays["words"])}
        weights = {name: torch.from_numpy(arrays[name]) for name in arrays if name != "words"}
        self._towers = self._new_towers(torch.Generator()).double().requires_grad_(False)
        self._towers.load_state_dict(weights)

    def _new_towers(self, random: torch.Generator) -> nn.ModuleDict:
        dimension = int(self.settings["dimension"])
        towers = nn.ModuleDict(
            {
                "images": nn.Sequential(
                    nn.Conv2d(3, 16, 3, stride=2, padding=1),
                    nn.ReLU(),
                    nn.Conv2d(16, 32, 3, stride=2, padding=1),
                    nn.ReLU(),
                    nn.Flatten(),
                    nn.Linear(32 * (_SIDE // 4) ** 2, dimension),
                ),
                "captions": nn.Linear(len(self._column_of), dimension),
            }
        )
        for weight in towers.parameters():
            fan = weight[0].numel() if weight.dim() > 1 else dimension
            weight.data.normal_(0, fan**-0.5, generator=random)
        return towers

    def _encoded(self, tower: str, given: torch.Tensor) -> Vectors:
        with torch.inference_mode():
            return unit_rows(self._towers[tower](given).numpy())

    def _word_counts(self, captions: Sequence[str]) -> torch.Tensor:
        counts = np.zeros((len(captions), len(self._column_of)))
        for row, caption in enumerate(captions):
            for word in words_of(caption):
                if word in self._column_of:
                    counts[row, self._column_of[word]] += 1
        return torch.from_numpy(counts)


def _pixels(images: Iterable[Image.Image]) -> torch.Tensor:
    small = [
        np.asarray(image.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BOX), np.float32)
        for image in images
    ]
    stacked = np.array(small, np.float32).reshape(-1, _SIDE, _SIDE, 3) / 127.5 - 1
    return torch.from_numpy(np.ascontiguousarray(stacked.transpose(0, 3, 1, 2)))
