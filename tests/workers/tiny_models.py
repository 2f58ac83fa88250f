"""Checkpoints as they are published, with random weights and a few thousand numbers."""

from collections.abc import Callable
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    BlipConfig,
    BlipForConditionalGeneration,
    CLIPConfig,
    CLIPModel,
    GitConfig,
    GitForCausalLM,
    GPT2Config,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    ViltConfig,
    ViltForImageAndTextRetrieval,
    VisionEncoderDecoderConfig,
    VisionEncoderDecoderModel,
    ViTConfig,
)
from transformers.models.blip.image_processing_pil_blip import BlipImageProcessorPil
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.vilt.image_processing_pil_vilt import ViltImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

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


# As many tokens as there are words, so that all that they say is a word.
WRITES = {**SMALL, "vocab_size": 23, "max_position_embeddings": 64}
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
SQUARE = {"height": 16, "width": 16}


def git(folder: Path) -> Path:
    _save(folder, lambda: GitForCausalLM(GitConfig(**WRITES, **ENDS, vision_config=SEEN)))
    _tokenizer(64).save_pretrained(folder)
    CLIPImageProcessorPil(size={"shortest_edge": 16}, crop_size=SQUARE).save_pretrained(folder)
    return folder


def blip(folder: Path) -> Path:
    text = {**WRITES, **ENDS, "encoder_hidden_size": 16, "sep_token_id": 2, "projection_dim": 8}
    config = BlipConfig(text_config=text, vision_config=SEEN, projection_dim=8)
    _save(folder, lambda: BlipForConditionalGeneration(config))
    _tokenizer(64).save_pretrained(folder)
    BlipImageProcessorPil(size=SQUARE).save_pretrained(folder)
    return folder


def vision_encoder_decoder(folder: Path) -> Path:
    words = GPT2Config(
        n_embd=16, n_layer=1, n_head=2, vocab_size=23, n_positions=64, add_cross_attention=True,
        is_decoder=True, **ENDS,
    )  # fmt: skip
    both = VisionEncoderDecoderConfig.from_encoder_decoder_configs(ViTConfig(**SEEN), words)

    def make() -> VisionEncoderDecoderModel:
        model = VisionEncoderDecoderModel(both)
        for name, number in {"decoder_start_token_id": 1, **ENDS}.items():
            setattr(model.generation_config, name, number)
        return model

    _save(folder, make)
    _tokenizer(64).save_pretrained(folder)
    ViTImageProcessorPil(size=SQUARE).save_pretrained(folder)
    return folder


def _save(folder: Path, make: Callable[[], PreTrainedModel]) -> None:
    torch.manual_seed(5)
    model = make()
    if model.can_generate():
        model.generation_config.suppress_tokens = [0, 1, 3]
        model.generation_config.min_new_tokens = 2
    # Random weights of the usual size give scores that hardly differ.
    for weight in model.parameters():
        weight.data.normal_(0, 0.5)
    model.save_pretrained(folder)


def _tokenizer(longest: int = 16) -> PreTrainedTokenizerFast:
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
        model_max_length=longest,
    )
