"""Published checkpoints by transformers, from a folder: never from a hub, and never unpickled."""

import json
from pathlib import Path
from typing import Any

import torch
from transformers import AutoImageProcessor, AutoTokenizer

from workers.encoders import BadMachineFile

AT_ONCE = 32


def device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def model_of(path: Path, loader: Any) -> Any:
    """Its weights as .safetensors, ready to be asked; half precision where there is a GPU."""
    number = torch.float16 if device() == "cuda" else torch.float32
    model = _loaded(path, loader, use_safetensors=True, dtype=number)
    return model.eval().requires_grad_(False).to(device())


def tokenizer_of(path: Path) -> Any:
    return _loaded(path, AutoTokenizer)


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
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError) as wrong:
        reason = str(wrong).strip().splitlines() or [type(wrong).__name__]
        raise BadMachineFile(f"{path.name} cannot be loaded: {reason[0]}") from wrong
