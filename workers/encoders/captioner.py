"""Models that write about an image: they complete what a text begins with."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from transformers import AutoModelForImageTextToText

from workers.encoders import Captioner, Setting, checkpoints

BEAMS = 3
LONGEST_ANSWER = 16


class PromptedCaptioner(Captioner):
    """BLIP, GIT, and a vision encoder with a language model behind it."""

    kind = "captioner"

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._model = checkpoints.model_of(
            path, AutoModelForImageTextToText, unused=checkpoints.POOLER
        )
        self._tokenizer = checkpoints.tokenizer_of(path)
        self._see = checkpoints.image_processor_of(path)
        config = self._model.config
        self._model_type = config.model_type
        words = config.decoder if self._model_type == "vision-encoder-decoder" else config
        words = getattr(words, "text_config", words)
        longest = checkpoints.longest_text(words, self._tokenizer)
        self._longest = longest - LONGEST_ANSWER
        self.settings: dict[str, Setting] = {
            "model": self._model_type,
            "beams": BEAMS,
            "longest_answer": LONGEST_ANSWER,
        }

    def complete(self, image: Image.Image, texts: Sequence[str]) -> list[str]:
        """Nothing for a text that leaves no room for an answer."""
        seen = checkpoints.on_device(
            self._see([image.convert("RGB")], return_tensors="pt"), self._model
        )
        # Texts of one length need no filling up, which would change what is said.
        by_length: dict[int, list[int]] = defaultdict(list)
        prompts = [self._tokens(text) for text in texts]
        for place, tokens in enumerate(prompts):
            by_length[len(tokens)].append(place)
        answers = [""] * len(texts)
        for length in sorted(by_length):
            if length <= self._longest:
                places = by_length[length]
                found = self._answers(seen["pixel_values"], [prompts[each] for each in places])
                for place, answer in zip(places, found, strict=True):
                    answers[place] = answer
        return answers

    def _tokens(self, text: str) -> list[int]:
        """As the model reads what it goes on with: without the sign that ends a text."""
        tokens: list[int] = self._tokenizer(text)["input_ids"]
        ends = {self._tokenizer.sep_token_id, self._tokenizer.eos_token_id} - {None}
        if len(tokens) > 1 and tokens[-1] in ends:
            tokens = tokens[:-1]
        if self._model_type == "vision-encoder-decoder":
            start = self._model.generation_config.decoder_start_token_id
            tokens = tokens if tokens[:1] == [start] else [start, *tokens]
        return tokens

    def _answers(self, pixels: torch.Tensor, prompts: list[list[int]]) -> list[str]:
        read = torch.tensor(prompts, device=checkpoints.device())
        given: dict[str, Any] = {"input_ids": read, "attention_mask": torch.ones_like(read)}
        if self._model_type == "vision-encoder-decoder":
            given = {"decoder_input_ids": read}
        elif self._model_type == "blip":
            # It takes the last token off by itself.
            ended = torch.cat([read, read[:, -1:]], dim=1)
            given = {"input_ids": ended, "attention_mask": torch.ones_like(ended)}
        with torch.inference_mode():
            found = self._model.generate(
                pixel_values=pixels.expand(len(prompts), *pixels.shape[1:]),
                num_beams=BEAMS,
                do_sample=False,
                max_new_tokens=LONGEST_ANSWER,
                **given,
            )
        new = found[:, read.shape[1] :]
        answers: list[str] = self._tokenizer.batch_decode(new, skip_special_tokens=True)
        return [answer.strip() for answer in answers]
