"""CLIP and its like: one model for images, one for texts, vectors in one space."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import AutoModel

from workers.encoders import Encoder, Setting, Vectors, checkpoints, unit_rows


class DualEncoder(Encoder):
    kind = "dual"

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._model = checkpoints.model_of(path, AutoModel)
        self._tokenizer = checkpoints.tokenizer_of(path)
        self._see = checkpoints.image_processor_of(path)
        config = self._model.config.text_config
        self._longest = checkpoints.longest_text(config, self._tokenizer)
        # SigLIP learned on texts filled up to their full length.
        self._padding = "max_length" if config.model_type.startswith("siglip") else "longest"
        self.settings: dict[str, Setting] = {
            "model": self._model.config.model_type,
            "longest_text": self._longest,
        }

    def encode_images(self, images: Sequence[Image.Image]) -> Vectors:
        return self._in_batches(images, self._image_features)

    def encode_captions(self, captions: Sequence[str]) -> Vectors:
        return self._in_batches(captions, self._text_features)

    def _in_batches(self, items: Sequence[Any], features: Callable[[list[Any]], Any]) -> Vectors:
        parts = [np.empty((0, 0), np.float32)] if not items else []
        with torch.inference_mode():
            for start in range(0, len(items), checkpoints.AT_ONCE):
                found = features(list(items[start : start + checkpoints.AT_ONCE]))
                parts.append(unit_rows(found.pooler_output.float().cpu().numpy()))
        return np.concatenate(parts)

    def _image_features(self, images: list[Image.Image]) -> Any:
        prepared = self._see([image.convert("RGB") for image in images], return_tensors="pt")
        return self._model.get_image_features(**checkpoints.on_device(prepared, self._model))

    def _text_features(self, captions: list[str]) -> Any:
        prepared = self._tokenizer(
            captions,
            padding=self._padding,
            truncation=True,
            max_length=self._longest,
            return_tensors="pt",
        )
        prepared.pop("token_type_ids", None)
        return self._model.get_text_features(**checkpoints.on_device(prepared, self._model))
