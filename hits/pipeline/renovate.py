"""Renovate: machines make coarse texts finer, for people to check (MSCOCO-FG §3.2)."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import orjson
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet

from hits.importers.lines import KINDS, Line, read
from hits.importers.records import Bad
from hits.models import Candidate, Caption, Corpus, Job, Proposal, Study, User
from hits.pipeline import arrange, jobs, propose
from hits.pipeline.errors import Refused
from hits.pipeline.installed import CAPTIONER, installed
from hits.pipeline.rows import import_rows, row_model_of
from hits.pipeline.uploaded import Tell
from hits.protocol import Source, protocol
from hits.sampling.pools import coarse_texts

FROM_CAPTION_TO_IMAGE = "t2i"


class Text(NamedTuple):
    """A caption that a finer one is wanted for, with its image."""

    caption: str
    image: str
    image_id: int
    blob: str
    text: str


class Uploaded(NamedTuple):
    """What a file proposes for a caption: sentences to merge into it, or whole texts."""

    details: list[str]
    texts: list[str]


def captioners() -> dict[str, str]:
    """By name, those in the folder of models."""
    return {name: name for name, each in installed().items() if each.kind == CAPTIONER}


def scorers() -> dict[str, str]:
    """Machines that say how well a text describes an image."""
    return {
        name: kind.label
        for name, kind in propose.machines().items()
        if FROM_CAPTION_TO_IMAGE in kind.directions
    }


def rankings(corpus: Corpus) -> QuerySet[Proposal]:
    """What tells coarse texts: finished proposals of images for captions, the newest first."""
    found = corpus.proposals.filter(direction=FROM_CAPTION_TO_IMAGE, finished_at__isnull=False)
    return found.select_related("machine").order_by("-pk")


def refuse(
    *, study: Study, scorer: str, captioner: str, has_file: bool, proposal: int | None
) -> None:
    row_model_of(study)
    kind = protocol(study.protocol)
    if Source.DETAILS not in kind.sources:
        raise Refused(f"{kind.name} asks about no texts that machines make finer.")
    if bool(captioner) == has_file:
        raise Refused("Name a captioner, or give a file of details: one of the two.")
    if captioner and captioner not in captioners():
        raise Refused(f"There is no captioner {captioner!r} in the folder of models.")
    if scorer not in scorers():
        raise Refused(f"There is no machine {scorer!r} that scores texts for images.")
    if proposal is None and captioner:
        raise Refused("Choose the proposal of images for captions that tells coarse texts.")
    if proposal is not None and not rankings(study.corpus).filter(pk=proposal).exists():
        raise Refused("Choose a finished proposal of the study’s corpus, caption to image.")


def ask(
    *,
    study: Study,
    by: User | None,
    scorer: str,
    captioner: str = "",
    source: str = "",
    proposal: int | None = None,
    queue: str = "",
    **given: Any,
) -> Job:
    """Let coarse texts be made finer, on the queue that large models have here."""
    refuse(
        study=study,
        scorer=scorer,
        captioner=captioner,
        has_file=bool(source),
        proposal=proposal,
    )
    is_large = bool(captioner) or propose.machines()[scorer].is_large
    arguments = {
        "study": study.pk,
        "scorer": scorer,
        "captioner": captioner,
        "source": source,
        "proposal": proposal,
        **given,
    }
    return jobs.ask(
        kind="renovate",
        arguments=arguments,
        by=by,
        study=study,
        queue=queue or (settings.MODELS_QUEUE if is_large else "cpu"),
    )


def ask_with_upload(*, study: Study, by: User, file: UploadedFile | None, **given: Any) -> Job:
    """The same with a file that was sent; what made it is called as the file, unless named."""
    called = arrange.name_of_upload(file) if file else ""
    refuse(
        study=study,
        scorer=given["scorer"],
        captioner=given["captioner"],
        has_file=file is not None,
        proposal=given["proposal"],
    )
    source = str(arrange.keep_upload(file, KINDS)) if file else ""
    given["name"] = given["name"] or Path(called).stem
    return ask(study=study, by=by, source=source, called=called, **given)


def texts_to_renovate(
    corpus: Corpus, proposal: int | None, named: Iterable[str] | None
) -> tuple[list[Text], int]:
    """The coarse texts, those of an image together, and among how many; where some are named, of
    these alone. Without a proposal, all that are named."""
    captions = Caption.objects.filter(corpus=corpus).select_related("image")
    if named is not None:
        captions = captions.filter(external_id__in=list(named))
    if proposal is not None:
        flags = _is_coarse(Proposal.objects.get(pk=proposal))
        captions = captions.filter(pk__in=list(flags))
    looked_at = captions.count()
    if proposal is not None:
        captions = captions.filter(pk__in=[pk for pk, is_coarse in flags.items() if is_coarse])
    found = captions.filter(image__blob__isnull=False).order_by("image_id", "pk")
    rows = found.values_list(
        "external_id", "image__external_id", "image_id", "image__blob_id", "text"
    )
    return [Text(*row) for row in rows.iterator()], looked_at


def _is_coarse(proposal: Proposal) -> dict[int, bool]:
    """Of each caption that was ranked for: whether another image than its own comes first."""
    first = Candidate.objects.filter(proposal=proposal, rank=1)
    ranked = {query: [target] for query, target in first.values_list("query_id", "target_id")}
    own = Caption.objects.filter(corpus=proposal.corpus_id)
    image_of = dict(own.values_list("pk", "image_id").iterator())
    return coarse_texts(ranked, image_of)


def uploaded_details(path: Path, called: str) -> dict[str, Uploaded]:
    """By caption, what a file proposes: lines of caption and detail, or of caption and text."""
    found: dict[str, Uploaded] = {}
    try:
        for line in read(called, lambda: path.open("rb")):
            if not isinstance(line, Line):
                raise Refused(f"{called}, {line.place}: {line.detail}")
            _take(line, called, found)
    except Bad as bad:
        raise Refused(f"{called}: {bad.detail}") from None
    if not found:
        raise Refused(f"{called} proposes nothing.")
    return found


def unknown_captions(corpus: Corpus, named: Iterable[str]) -> list[str]:
    """Those that a file names and the corpus does not have."""
    asked = list(named)
    known = Caption.objects.filter(corpus=corpus, external_id__in=asked)
    there = set(known.values_list("external_id", flat=True))
    return [each for each in asked if each not in there]


def _take(line: Line, called: str, found: dict[str, Uploaded]) -> None:
    caption, detail, text = (line.fields.get(name) for name in ("caption", "detail", "text"))
    is_sound = isinstance(caption, str | int) and isinstance(detail or text, str)
    if not is_sound or (detail is not None and text is not None):
        raise Refused(
            f"{called}, line {line.number}: give a caption’s id and either a detail or a text."
        )
    own = found.setdefault(str(caption), Uploaded([], []))
    if detail is not None:
        own.details.append(str(detail))
    else:
        own.texts.append(str(text))


def sampled(rows: Sequence[Mapping[str, Any]], sample: int | None, seed: int) -> list[Any]:
    """Some of them at random, to be audited first; asked for again without, the others follow."""
    if sample is None or sample >= len(rows):
        return list(rows)
    chosen = set(Random(seed).sample(range(len(rows)), sample))
    return [row for place, row in enumerate(rows) if place in chosen]


def keep(
    study: Study, rows: Iterable[Mapping[str, Any]], file: Path, called: str, tell: Tell
) -> dict[str, Any]:
    """The proposed texts as rows of the study, by the way that uploaded ones take."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return import_rows(study=study, source=str(file), called=called, tell=tell)
