"""ViLT and its like: image and text go through one model together, and get one score."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from transformers import ViltForImageAndTextRetrieval

from workers.encoders import PairScorer, Setting, Vectors, checkpoints


class VisionLanguageScorer(PairScorer):
    kind = "pairs"

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._model = checkpoints.model_of(path, ViltForImageAndTextRetrieval)
        self._tokenizer = checkpoints.tokenizer_of(path)
        self._see = checkpoints.image_processor_of(path)
        self._longest = checkpoints.longest_text(self._model.config, self._tokenizer)
        self.settings: dict[str, Setting] = {
            "model": self._model.config.model_type,
            "longest_text": self._longest,
        }

    def score(self, image: Image.Image, captions: Sequence[str]) -> Vectors:
        seen = checkpoints.on_device(
            self._see([image.convert("RGB")], return_tensors="pt"), self._model
        )
        found = [
            self._scores(seen, list(captions[start : start + checkpoints.AT_ONCE]))
            for start in range(0, len(captions), checkpoints.AT_ONCE)
        ]
        return np.concatenate([np.empty(0, np.float32), *found])

    def _scores(self, seen: dict[str, torch.Tensor], captions: list[str]) -> Vectors:
        # Filled up to one length, so that a score does not depend on what it is computed beside.
        read = self._tokenizer(
            captions,
            padding="max_length",
            truncation=True,
            max_length=self._longest,
            return_tensors="pt",
        )
        image = {
            name: value.expand(len(captions), *value.shape[1:]) for name, value in seen.items()
        }
        with torch.inference_mode():
            logits = self._model(**checkpoints.on_device(read, self._model), **image).logits
        scores: Vectors = logits[:, 0].float().cpu().numpy()
        return scores
