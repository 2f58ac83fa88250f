"""Procedures: the studies of five papers, each as what a new study can start from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from hits.protocol import registry


@dataclass(frozen=True, slots=True)
class Procedure:
    """A protocol with what a paper chose beside the protocol's own defaults."""

    slug: str
    paper: str
    name: str
    protocol: str
    next_step: str = ""
    direction: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    pay: Decimal = Decimal(0)
    expected_minutes: int = 0

    @property
    def judgments_wanted(self) -> int:
        return registry()[self.protocol].judgments_wanted

    def changed(self, settings: Mapping[str, Any]) -> list[str]:
        """The settings that are not as in the paper."""
        own = registry()[self.protocol].settings_model.model_validate(self.settings).model_dump()
        return [name for name, value in own.items() if settings.get(name) != value]


ECCV, BISON, CXC = "ECCV Caption", "BISON", "Crisscrossed Captions"
FINE_GRAINED, IMPORTANCE = "MSCOCO-FG", "Object importance"
OTHERS = "Others"

OF_PAPERS = (
    Procedure(
        "eccv-image-to-caption", ECCV, "Stage 1: matching, image to captions, with what is wrong",
        "matching", "Let machines propose captions for images, and choose their proposals.",
        direction="i2t",
        pay=Decimal("1.40"), expected_minutes=6,
    ),
    Procedure(
        "eccv-caption-to-image", ECCV,
        "Stage 2: matching, caption to images, the four choices alone",
        "matching", "Choose machines’ proposals from captions to images, and leave out what the "
        "first direction asked.",
        direction="t2i", settings={"justification": False}, pay=Decimal("0.65"), expected_minutes=3,
    ),
    Procedure(
        "eccv-preference", ECCV,
        "Metric preference: which of two rankings looks more correct?", "preference",
        "Let a finished study of matching feed it, or upload rankings.",
    ),
    Procedure(
        "bison-captions", BISON, "Stage 2: which caption tells two images apart?",
        "bison_captions", "Choose proposals of similar images.",
    ),
    Procedure(
        "bison-images", BISON, "Stage 3: which image does the caption describe?",
        "bison_images", "Let stage 2 feed it; nobody who did stage 2 can work here.",
    ),
    Procedure("bison-correctness", BISON, "Is the caption correct?", "correctness"),
    Procedure("bison-detailedness", BISON, "How detailed is the caption?", "detailedness"),
    Procedure(
        "bison-audit", BISON, "Audit of a machine’s errors", "retrieval_audit",
        "Choose the proposals whose errors are looked at.",
    ),
    Procedure("cxc-sts", CXC, "How alike are two texts? (STS)", "sts"),
    Procedure("cxc-sis", CXC, "How alike are two images? (SIS)", "sis"),
    Procedure(
        "cxc-sits", CXC, "How alike are an image and a text? (SITS)", "sits",
        "Let finished studies of texts and of images feed it.",
    ),
    Procedure(
        "fg-renovation", FINE_GRAINED, "Correct the details that a machine added", "renovation",
        "Let machines make coarse texts finer, or upload rows with the proposed texts.",
    ),
    Procedure(
        "fg-right-text", FINE_GRAINED, "Which text is right?", "right_text",
        "Let a finished renovation feed it.",
    ),
    Procedure("importance-prominence", IMPORTANCE, "How prominent are objects?", "prominence"),
    Procedure(
        "importance-relevance", IMPORTANCE, "Caption first, then the objects’ relevance to it",
        "relevance",
    ),
    Procedure(
        "importance-detectors", IMPORTANCE, "Which of two detectors labels what matters?",
        "detectors", "Upload rows with both detectors’ predictions.",
    ),
)  # fmt: skip


def procedures() -> dict[str, Procedure]:
    """Those of the papers, and each protocol that no paper has as a procedure of its own."""
    of_papers = {procedure.protocol for procedure in OF_PAPERS}
    others = (
        Procedure(slug, OTHERS, kind.name, slug)
        for slug, kind in sorted(registry().items())
        if slug not in of_papers
    )
    return {procedure.slug: procedure for procedure in (*OF_PAPERS, *others)}


def nearest(protocol: str, settings: Mapping[str, Any]) -> Procedure:
    """The study of a paper that these settings are most like."""
    of_protocol = (each for each in procedures().values() if each.protocol == protocol)
    return min(of_protocol, key=lambda each: len(each.changed(settings)))


def by_paper() -> Iterator[tuple[str, list[Procedure]]]:
    papers: dict[str, list[Procedure]] = {}
    for procedure in procedures().values():
        papers.setdefault(procedure.paper, []).append(procedure)
    yield from papers.items()
