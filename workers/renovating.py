"""Coarse texts become finer ones: details are proposed, filtered by score, merged, filtered again.

Texts are done in parts that any worker takes. A part leaves a file with a line for each text, the
same whoever made it.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from django.conf import settings
from PIL import Image as Picture

from hits.analysis import details
from hits.analysis.captions import text_statistics
from hits.importers.records import shown
from hits.models import Image, Study
from hits.pipeline import propose, renovate
from hits.pipeline.errors import Refused
from hits.pipeline.installed import installed
from hits.pipeline.jobs import Progress
from hits.pipeline.renovate import Text, Uploaded
from workers import encoders, parts, vectors
from workers.machines import Say, machine_called, opened, picture

PART = 32
# Another number wherever the same machines would make other texts.
RULES = "1"
# CLIPScore (Hessel et al. 2021) without its floor at 0, under which no text fits less than another.
CLIP_SCORE = 2.5
Scorer = encoders.Encoder | encoders.PairScorer


class _Asked(NamedTuple):
    """All that a part needs: texts in parts, who proposes details for them and who scores."""

    texts: list[Text]
    looked_at: int
    folder: Path
    machine: str
    captioner: encoders.Captioner | None
    uploaded: Mapping[str, Uploaded]
    scorer: Scorer


def renovate_texts(arguments: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    study = Study.objects.select_related("corpus").get(pk=arguments["study"])
    asked = _asked(study, arguments, progress)
    unknown = renovate.unknown_captions(study.corpus, asked.uploaded)
    if unknown and len(unknown) == len(asked.uploaded):
        raise Refused(
            f"The corpus has none of the captions that {arguments['called']} names, as "
            f"{shown(unknown[0])!r}."
        )
    count = -(-len(asked.texts) // PART)
    if not count:
        raise Refused(
            f"None of {asked.looked_at:,} texts is coarse, or their images have no files."
        )
    asked.folder.mkdir(parents=True, exist_ok=True)
    parts.do_all(
        progress,
        work="renovate",
        name=f"renovate {asked.folder.name[:16]}",
        arguments=dict(arguments),
        count=count,
        is_there=lambda part: _part_of(asked, part).exists(),
        do=partial(_do_part, asked),
        message=f"{asked.machine}: details for coarse texts, parts of {PART}",
    )
    lines = [line for part in range(count) for line in _lines(_part_of(asked, part))]
    result = {"unknown": len(unknown), **_kept(study, asked, lines, arguments, progress)}
    progress.say(_in_words(result, is_ranked=arguments["proposal"] is not None))
    return result


def renovate_part(arguments: Mapping[str, Any], say: Say) -> None:
    """What a worker does that was asked for one part by another."""
    study = Study.objects.select_related("corpus").get(pk=arguments["study"])
    _do_part(_asked(study, arguments, say), arguments["part"], say)


def _asked(study: Study, arguments: Mapping[str, Any], say: Say) -> _Asked:
    renovate.refuse(
        study=study,
        scorer=arguments["scorer"],
        captioner=arguments["captioner"],
        has_file=bool(arguments["source"]),
        proposal=arguments["proposal"],
    )
    corpus = study.corpus
    uploaded: Mapping[str, Uploaded] = {}
    captioner: encoders.Captioner | None = None
    if arguments["captioner"]:
        captioner, machine = opened(installed()[arguments["captioner"]], say)
    else:
        path = Path(arguments["source"])
        uploaded = renovate.uploaded_details(path, arguments["called"])
        machine = propose.machine_of(
            name=arguments["name"],
            version=arguments["version"],
            kind="precomputed",
            checksum=encoders.file_checksum(path),
            settings={"file": arguments["called"]},
        )
    scorer, scoring = machine_called(corpus, arguments["scorer"], arguments["train_split"], say)
    named = None if captioner else uploaded
    texts, looked_at = renovate.texts_to_renovate(corpus, arguments["proposal"], named)
    identity = [RULES, machine.checksum, scoring.checksum, *map(str, texts)]
    folder = Path(settings.DATA_DIR) / "renovations" / corpus.slug / vectors.name_of(identity)
    return _Asked(texts, looked_at, folder, str(machine), captioner, uploaded, scorer)


def _part_of(asked: _Asked, part: int) -> Path:
    return asked.folder / f"{part}.jsonl"


def _do_part(asked: _Asked, part: int, say: Say) -> None:
    if _part_of(asked, part).exists():
        # Another job that needs the same was quicker.
        return
    texts = asked.texts[part * PART : (part + 1) * PART]
    images = Image.objects.select_related("blob").in_bulk({each.image_id for each in texts})
    done = 0
    with vectors.written_whole(_part_of(asked, part)) as file:
        for image_id, group in groupby(texts, key=lambda each: each.image_id):
            shown = picture(images[image_id])
            for text in group:
                file.write(orjson.dumps(_renovated(asked, text, shown)) + b"\n")
                done += 1
                say(done, len(texts), f"Details, part {part + 1}")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:
            yield orjson.loads(line)


def _renovated(asked: _Asked, text: Text, image: Picture.Image) -> dict[str, Any]:
    """The best text that a detail makes and that fits no worse than the original, if any."""
    given = asked.uploaded.get(text.caption)
    offered = _completed(asked.captioner, text, image) if asked.captioner else []
    sentences = [*offered, *(given.details if given else ())]
    fitting = _fitting(
        asked.scorer,
        image,
        text.text,
        [(details.two_sentences(text.text, d), d) for d in sentences],
    )
    merged = {
        made: detail
        for _, (_, detail) in reversed(fitting)
        if (made := details.merged(text.text, detail)) is not None
    }
    whole = {each: "" for each in (given.texts if given else ()) if each != text.text}
    kept = _fitting(asked.scorer, image, text.text, list((merged | whole).items()))
    counts = {"details": len(sentences) + len(whole), "fitting": len(fitting) + len(whole)}
    line = {"image": text.image, "caption": text.caption, "original": text.text, **counts}
    if not kept:
        return line
    score, made, detail = max((score, made, detail) for score, (made, detail) in kept)
    return {**line, "proposed": made, "detail": detail, "score": score}


def _completed(captioner: encoders.Captioner, text: Text, image: Picture.Image) -> list[str]:
    begun = details.openings(text.text)
    answers = captioner.complete(image, [details.prompt(text.text, each) for each in begun])
    found = (details.completed(*each) for each in zip(begun, answers, strict=True))
    return list(dict.fromkeys(each for each in found if each is not None))


def _fitting(
    scorer: Scorer, image: Picture.Image, original: str, offered: Sequence[tuple[str, str]]
) -> list[Any]:
    """Of (text, detail), those whose text scores no lower than the original."""
    if not offered:
        return []
    before, *scores = _scores(scorer, image, [original, *(text for text, _ in offered)])
    scored = zip(scores, offered, strict=True)
    return [(score, each) for score, each in scored if score >= before]


def _scores(scorer: Scorer, image: Picture.Image, texts: Sequence[str]) -> list[float]:
    if isinstance(scorer, encoders.PairScorer):
        found = scorer.score(image, texts)
    else:
        (seen,) = scorer.encode_images([image]).astype(np.float64)
        found = CLIP_SCORE * (scorer.encode_captions(texts).astype(np.float64) @ seen)
    if not np.isfinite(found).all():
        raise Refused(vectors.NOT_FINITE)
    return [float(score) for score in found]


def _kept(
    study: Study,
    asked: _Asked,
    lines: list[dict[str, Any]],
    arguments: Mapping[str, Any],
    progress: Progress,
) -> dict[str, Any]:
    proposed = [line for line in lines if "proposed" in line]
    rows = [
        {
            **{name: line[name] for name in ("image", "caption", "proposed")},
            "machine": asked.machine,
        }
        for line in proposed
    ]
    chosen = renovate.sampled(rows, arguments.get("sample"), arguments.get("seed", 0))
    called = f"{asked.machine}.jsonl"
    stored = renovate.keep(
        study, chosen, asked.folder / f"rows-{progress.job.pk}.jsonl", called, progress
    )
    result = {
        "texts": asked.looked_at,
        "coarse": len(lines),
        "details": sum(line["details"] for line in lines),
        "fitting": sum(line["fitting"] for line in lines),
        "proposed": len(proposed),
        "machine": asked.machine,
        **stored,
    }
    if proposed:
        sides = {"before": "original", "after": "proposed"}
        result["statistics"] = {
            side: _means([line[name] for line in proposed]) for side, name in sides.items()
        }
    return result


def _in_words(result: Mapping[str, Any], *, is_ranked: bool) -> str:
    coarse = f"Of {result['texts']:,} texts, {result['coarse']:,} are coarse"
    named = f"{result['coarse']:,} texts named"
    refused = f", {result['refused']:,} refused" if result["refused"] else ""
    said = (
        f"{coarse if is_ranked else named}; "
        f"{result['details']:,} details, {result['fitting']:,} of them fit; "
        f"{result['proposed']:,} finer texts, {result['added']:,} rows added, "
        f"{result['there']:,} there already{refused}."
    )
    if not result["unknown"]:
        return said
    return f"{said} {result['unknown']:,} captions that the file names are not in the corpus."


def _means(texts: list[str]) -> dict[str, float]:
    """Parts of speech a text, as in the paper's Table 3."""
    line = text_statistics(texts).line()
    return {of: line[f"{of} a text"] for of in ("nouns", "adjectives", "words")}
