"""Sentence encoders: a transformer's token vectors become one vector a text."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel

from workers.encoders import Reader, Setting, Vectors, checkpoints, unit_rows


class SentenceEncoder(Reader):
    """The mean over a text's tokens, or its first token where 1_Pooling/config.json says so. An
    image is described by the mean over its captions."""

    kind = "sentence"

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._model = checkpoints.model_of(path, AutoModel, unused=checkpoints.POOLER)
        self._tokenizer = checkpoints.tokenizer_of(path)
        pooling = checkpoints.settings_in(path / "1_Pooling" / "config.json")
        self._takes_first = bool(pooling.get("pooling_mode_cls_token"))
        longest = checkpoints.longest_text(self._model.config, self._tokenizer)
        limits = checkpoints.settings_in(path / "sentence_bert_config.json")
        self._longest = min(longest, limits.get("max_seq_length") or longest)
        self.settings: dict[str, Setting] = {
            "model": self._model.config.model_type,
            "pooling": "first token" if self._takes_first else "mean",
            "longest_text": self._longest,
        }

    def encode_captions(self, captions: Sequence[str]) -> Vectors:
        found = [
            self._pooled(list(captions[start : start + checkpoints.AT_ONCE]))
            for start in range(0, len(captions), checkpoints.AT_ONCE)
        ]
        return np.concatenate([np.empty((0, self._model.config.hidden_size), np.float32), *found])

    def encode_described(self, groups: Sequence[Sequence[str]]) -> Vectors:
        vectors = self.encode_captions([caption for own in groups for caption in own])
        ends = np.cumsum([len(own) for own in groups])
        return unit_rows(np.stack([part.sum(axis=0) for part in np.split(vectors, ends[:-1])]))

    def _pooled(self, captions: list[str]) -> Vectors:
        prepared = checkpoints.on_device(
            self._tokenizer(
                captions,
                padding=True,
                truncation=True,
                max_length=self._longest,
                return_tensors="pt",
            ),
            self._model,
        )
        with torch.inference_mode():
            tokens = self._model(**prepared).last_hidden_state.float()
        if self._takes_first:
            return unit_rows(tokens[:, 0].cpu().numpy())
        is_text = prepared["attention_mask"][:, :, None].float()
        return unit_rows(((tokens * is_text).sum(1) / is_text.sum(1)).cpu().numpy())
