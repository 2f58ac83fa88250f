"""Recipes: each paper's whole procedure on a corpus, as steps that machines and people take."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hits.procedures import BISON, CXC, ECCV, FINE_GRAINED, IMPORTANCE, Procedure, procedures


@dataclass(frozen=True, slots=True)
class Propose:
    """Machines rank the corpus. Where the researcher may choose them, these are the usual ones."""

    key: str
    title: str
    machines: tuple[str, ...]
    directions: tuple[str, ...]
    may_choose: bool = True


@dataclass(frozen=True, slots=True)
class Open:
    """A study is made, given what its units are made of, and opened."""

    key: str
    procedure: str
    title: str
    proposed_by: str = ""
    direction: str = ""
    fed_by: tuple[str, ...] = ()
    continues: tuple[str, ...] = ()
    rows: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def asked(self) -> Procedure:
        return procedures()[self.procedure]


@dataclass(frozen=True, slots=True)
class Work:
    """People judge until every unit has its judgments, or the study is closed."""

    key: str


@dataclass(frozen=True, slots=True)
class Review:
    """A person decides on pages whose golds failed."""

    key: str


@dataclass(frozen=True, slots=True)
class Release:
    key: str
    title: str
    studies: tuple[str, ...]


Step = Propose | Open | Work | Review | Release
_WHAT = {
    Open: "the study is opened",
    Work: "people judge",
    Review: "failed golds are reviewed",
}


@dataclass(frozen=True, slots=True)
class Recipe:
    slug: str
    paper: str
    name: str
    description: str
    needs: str
    steps: tuple[Step, ...]

    @property
    def studies(self) -> tuple[Open, ...]:
        return tuple(step for step in self.steps if isinstance(step, Open))

    @property
    def plan(self) -> list[str]:
        return [self.title_of(step) for step in self.steps]

    def title_of(self, step: Step) -> str:
        if isinstance(step, Propose):
            return step.title
        if isinstance(step, Release):
            return f"Release: {step.title}"
        title = next(each.title for each in self.studies if each.key == step.key)
        return f"{title}: {_WHAT[type(step)]}"


def _study(key: str, procedure: str, title: str, **given: Any) -> Iterator[Step]:
    yield Open(key, procedure, title, **given)
    yield Work(key)
    yield Review(key)


_CAPTIONED = "Images with captions"
_MATCHING = (
    Propose(
        "machines", "Machines propose captions for images and images for captions",
        ("palette", "layout"), ("i2t", "t2i"),
    ),
    *_study(
        "image-to-caption", "eccv-image-to-caption", "Image to captions",
        proposed_by="machines", direction="i2t",
    ),
    *_study(
        "caption-to-image", "eccv-caption-to-image", "Caption to images",
        proposed_by="machines", direction="t2i", continues=("image-to-caption",),
    ),
)  # fmt: skip

RECIPES = (
    Recipe(
        "eccv", ECCV, "Image-text matching, both directions",
        "Machines propose pairs of an image and a caption; people say how well each fits, first "
        "for images, then for captions, and no pair twice. The release has the positives of every "
        "query.",
        _CAPTIONED,
        (
            *_MATCHING,
            Release("dataset", "Positives both ways", ("image-to-caption", "caption-to-image")),
        ),
    ),
    Recipe(
        "eccv-preference", ECCV, "Metric preference",
        "From what people matched, five rankings are built for each caption with five to eight "
        "positives, and people say which of two looks more correct.",
        _CAPTIONED,
        (
            *_MATCHING,
            *_study(
                "preference", "eccv-preference", "Which of two rankings?",
                fed_by=("image-to-caption", "caption-to-image"),
                settings={"wrong_from_corpus": True},
            ),
            Release("preferences", "Preferences between rankings", ("preference",)),
        ),
    ),
    Recipe(
        "bison", BISON, "Binary image selection, stages 1 to 3",
        "Images with similar captions are paired, people choose the caption that tells two images "
        "apart, and others, who did none of that, pick the image that it describes.",
        _CAPTIONED,
        (
            Propose(
                "neighbours", "Stage 1: images with similar captions are paired",
                ("caption_mean",), ("i2i",), may_choose=False,
            ),
            *_study(
                "captions", "bison-captions", "Stage 2: choose a caption",
                proposed_by="neighbours", direction="i2i",
            ),
            *_study(
                "images", "bison-images", "Stage 3: choose the image", fed_by=("captions",)
            ),
            Release("examples", "BISON’s examples", ("images",)),
        ),
    ),
    Recipe(
        "cxc", CXC, "Similarity within and across modalities",
        "Texts are paired by their images and images by their captions; people rate both, and "
        "what they rated chooses the pairs of an image and a text that are rated last.",
        _CAPTIONED,
        (
            Propose("by-image", "Machines find similar images", ("palette",), ("i2i",)),
            Propose(
                "by-caption", "Images with similar captions are found",
                ("caption_mean",), ("i2i",), may_choose=False,
            ),
            *_study(
                "texts", "cxc-sts", "Two texts (STS)",
                proposed_by="by-image", direction="i2i", settings={"cocaptions": True},
            ),
            *_study(
                "images", "cxc-sis", "Two images (SIS)",
                proposed_by="by-caption", direction="i2i",
            ),
            *_study(
                "across", "cxc-sits", "An image and a text (SITS)",
                fed_by=("texts", "images"), settings={"originals": True},
            ),
            Release("similarities", "All similarities", ("texts", "images", "across")),
        ),
    ),
    Recipe(
        "fg", FINE_GRAINED, "Renovated texts",
        "People confirm or correct the details that a model added to captions, with as few words "
        "as possible; others then tell the right text from the wrong one.",
        "Images with captions, and a file of proposed texts",
        (
            *_study(
                "renovation", "fg-renovation", "Correct the added details",
                rows="Each caption with what a model made of it: image, caption, proposed.",
            ),
            *_study("right-text", "fg-right-text", "Which text is right?", fed_by=("renovation",)),
            Release(
                "texts", "Renovated texts, and pairs of a wrong and a right one",
                ("renovation", "right-text"),
            ),
        ),
    ),
    Recipe(
        "importance", IMPORTANCE, "Three surveys of what matters in an image",
        "People rate five objects of an image by prominence, others rate the same objects by their "
        "relevance to a caption that they write first, and three say which of two detectors labels "
        "more of what matters.",
        "Images with captions and labelled regions, and a file of detections",
        (
            *_study("prominence", "importance-prominence", "Survey 1: prominence"),
            *_study(
                "relevance", "importance-relevance", "Survey 2: relevance to a caption",
                fed_by=("prominence",),
            ),
            *_study(
                "detectors", "importance-detectors", "Survey 3: two detectors",
                rows="What at least two detectors found in each image: image, systems.",
            ),
            Release("surveys", "All three surveys", ("prominence", "relevance", "detectors")),
        ),
    ),
)  # fmt: skip


def recipes() -> dict[str, Recipe]:
    return {recipe.slug: recipe for recipe in RECIPES}
