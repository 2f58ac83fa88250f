"""Checkpoints as they are published, with random weights and a few thousand numbers."""

from collections.abc import Callable
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    CLIPConfig,
    CLIPModel,
    PreTrainedTokenizerFast,
    ViltConfig,
    ViltForImageAndTextRetrieval,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.vilt.image_processing_pil_vilt import ViltImageProcessorPil

SENTENCE = "a red blue green ball tree of in on the it is there are color wears caption image"
SMALL = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
}
TEXT = {**SMALL, "vocab_size": 64, "max_position_embeddings": 16}
SEEN = {**SMALL, "image_size": 16, "patch_size": 8}


def clip(folder: Path) -> Path:
    text = {**TEXT, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    config = CLIPConfig(text_config=text, vision_config=SEEN, projection_dim=8)
    _save(folder, lambda: CLIPModel(config))
    _tokenizer().save_pretrained(folder)
    square = {"height": 16, "width": 16}
    CLIPImageProcessorPil(size={"shortest_edge": 16}, crop_size=square).save_pretrained(folder)
    return folder


def vilt(folder: Path) -> Path:
    config = ViltConfig(**TEXT, image_size=32, patch_size=16, max_image_length=-1)
    _save(folder, lambda: ViltForImageAndTextRetrieval(config))
    _tokenizer().save_pretrained(folder)
    ViltImageProcessorPil(size={"shortest_edge": 32}, size_divisor=16).save_pretrained(folder)
    return folder


def bert(folder: Path) -> Path:
    _save(folder, lambda: BertModel(BertConfig(**TEXT)))
    _tokenizer().save_pretrained(folder)
    return folder


def _save(folder: Path, make: Callable[[], torch.nn.Module]) -> None:
    torch.manual_seed(5)
    model = make()
    # Random weights of the usual size give scores that hardly differ.
    for weight in model.parameters():
        weight.data.normal_(0, 0.5)
    model.save_pretrained(folder)


def _tokenizer() -> PreTrainedTokenizerFast:
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    vocabulary = {word: number for number, word in enumerate([*special, *SENTENCE.split(), "."])}
    tokens = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokens.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokens.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokens,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=16,
    )
