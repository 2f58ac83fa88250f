"""A machine by the name that a job gives: learned here before, learned now, or installed."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.db.models import QuerySet
from PIL import Image as Picture

from hits.models import Caption, Corpus, Image, Machine
from hits.pipeline import blobs, propose
from hits.pipeline.errors import Refused
from hits.pipeline.installed import Installed, installed
from workers import encoders

BATCH = 256
Say = Callable[..., Any]


def machine_called(
    corpus: Corpus, name: str, train_split: str, say: Say
) -> tuple[encoders.Encoder | encoders.PairScorer, Machine]:
    if name in propose.LEARNED:
        return _learned(corpus, name, train_split, say)
    model = installed().get(name)
    if model is None:
        raise Refused(f"There is no machine {name!r} in the folder of models.")
    return opened(model, say)


def opened(model: Installed, say: Say) -> tuple[Any, Machine]:
    """An installed model, and the record of it."""
    say(0, None, f"Loading {model.name}")
    try:
        found = encoders.open_installed(model.kind, model.name, model.path)
    except encoders.BadMachineFile as bad:
        raise Refused(str(bad)) from bad
    except ModuleNotFoundError as missing:
        raise Refused(f"{model.name} needs {missing.name}, which this worker lacks.") from missing
    recorded = propose.machine_of(
        name=model.name,
        version=model.version,
        kind=model.kind,
        checksum=encoders.checksum_of(model.path),
        settings=found.settings,
    )
    return found, recorded


def _learned(
    corpus: Corpus, kind: str, train_split: str, say: Say
) -> tuple[encoders.Learner, Machine]:
    """The machine as it was learned on this corpus before, or learned now."""
    encoder = encoders.create(kind, kind)
    folder = Path(settings.DATA_DIR) / "machines" / corpus.slug
    folder.mkdir(parents=True, exist_ok=True)
    learned_from = Caption.objects.filter(corpus=corpus, image__split=train_split)
    of_split = f"{quote(train_split, safe='')}-{learned_from.count()}"
    path = folder / f"{kind}-{encoder.version}-{of_split}.npz"
    if path.exists():
        encoder = encoders.load(path)
        checksum = encoders.file_checksum(path)
    else:
        _learn(encoder, corpus, train_split, say)
        checksum = encoders.save(encoder, path)
    machine = propose.machine_of(
        name=encoder.name,
        version=encoder.version,
        kind=encoder.kind,
        checksum=checksum,
        settings={**encoder.settings, "learned_on": f"{corpus.slug}/{train_split}"},
    )
    return encoder, machine


def with_files(corpus: Corpus, split: str) -> QuerySet[Image]:
    images = Image.objects.filter(corpus=corpus, split=split, blob__isnull=False)
    return images.select_related("blob").order_by("pk")


def texts_of(images: QuerySet[Image]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {pk: [] for pk in images.values_list("pk", flat=True)}
    captions = Caption.objects.filter(image__in=images).order_by("pk")
    for image_id, text in captions.values_list("image_id", "text").iterator():
        found[image_id].append(text)
    return found


def picture(image: Image) -> Picture.Image:
    assert image.blob is not None
    with blobs.open_blob(image.blob) as file, Picture.open(file) as opened:
        return opened.convert("RGB")


def _learn(encoder: encoders.Learner, corpus: Corpus, split: str, say: Say) -> None:
    if not encoder.learns_from_images:
        described = Image.objects.filter(corpus=corpus, split=split).order_by("pk")
        say(0, None, f"{encoder.name}: learning")
        _fit(encoder, iter(()), texts_of(described))
        return
    images = with_files(corpus, split)
    total = images.count()
    if not total:
        raise Refused(
            f"{encoder.name} learns from images, and the split “{split}” has none with files: "
            "import them, or let it learn from another split."
        )

    def pictures() -> Iterator[Picture.Image]:
        for done, image in enumerate(images.iterator(chunk_size=BATCH), start=1):
            say(done, total, f"{encoder.name}: learning")
            yield picture(image)

    _fit(encoder, pictures(), texts_of(images))


def _fit(
    encoder: encoders.Learner, pictures: Iterator[Picture.Image], texts: dict[int, list[str]]
) -> None:
    try:
        encoder.fit(pictures, iter(texts.values()))
    except ValueError as refusal:
        raise Refused(f"{encoder.name} cannot learn from this split: {refusal}.") from refusal
