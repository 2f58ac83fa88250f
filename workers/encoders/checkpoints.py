"""Published checkpoints by transformers, from a folder: never from a hub, and never unpickled."""

import json
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import AutoImageProcessor, AutoTokenizer

from workers.encoders import BadMachineFile

AT_ONCE = 32
POOLER = "pooler"
UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    ImportError,
    RuntimeError,
    SafetensorError,
    StrictDataclassError,
)


def device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def model_of(path: Path, loader: Any, unused: str | None = None) -> Any:
    """Its weights as .safetensors, ready to be asked; half precision where there is a GPU.

    Weights that are not there would be random ones: only those that are not asked may be missing.
    """
    number = torch.float16 if device() == "cuda" else torch.float32
    model, told = _loaded(
        path, loader, use_safetensors=True, dtype=number, output_loading_info=True
    )
    missing = [key for key in sorted(told["missing_keys"]) if unused not in key.split(".")]
    if missing:
        others = len(missing) - 1
        more = f" and {others} other weight{'' if others == 1 else 's'}" if others else ""
        raise BadMachineFile(f"{path.name} cannot be loaded: it lacks {missing[0]}{more}.")
    return model.eval().requires_grad_(False).to(device())


def tokenizer_of(path: Path) -> Any:
    tokenizer = _loaded(path, AutoTokenizer)
    # Without any of its files it would know no word.
    if not any((path / name).is_file() for name in tokenizer.vocab_files_names.values()):
        raise BadMachineFile(f"{path.name} cannot be loaded: it has no files of a tokenizer.")
    return tokenizer


def image_processor_of(path: Path) -> Any:
    """Pillow's arithmetic, which is the same with and without torchvision."""
    return _loaded(path, AutoImageProcessor, backend="pil")


def settings_in(path: Path) -> dict[str, Any]:
    """A small JSON file of the folder; nothing where there is none."""
    if not path.is_file():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def longest_text(config: Any, tokenizer: Any) -> int:
    return int(min(getattr(config, "max_position_embeddings", 512), tokenizer.model_max_length))


def on_device(prepared: Any, model: Any) -> dict[str, torch.Tensor]:
    return {
        name: value.to(device(), model.dtype if value.is_floating_point() else value.dtype)
        for name, value in prepared.items()
    }


def _loaded(path: Path, loader: Any, **how: Any) -> Any:
    try:
        return loader.from_pretrained(
            str(path), local_files_only=True, trust_remote_code=False, **how
        )
    except UNREADABLE as wrong:
        reason = str(wrong).strip().splitlines() or [type(wrong).__name__]
        raise BadMachineFile(f"{path.name} cannot be loaded: {reason[0]}") from wrong
