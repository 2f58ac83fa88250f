import pytest

from hits.models import Image, Study
from hits.pipeline.aggregate import StudySource
from hits.pipeline.open import create_study
from hits.protocol import protocol
from tests import making
from tests.protocols.cases.similarity import study_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    corpus = making.corpus(images=3)
    images = list(corpus.images.order_by("pk"))
    Image.objects.filter(pk=images[0].pk).update(split="train")
    Image.objects.create(corpus=corpus, external_id="bare", split="test")
    making.corpus(images=1)
    return create_study(
        slug="of-a-split",
        name="Of a split",
        corpus=corpus,
        protocol_slug="matching",
        by=corpus.owner,
    )


def captioned(study: Study) -> dict[str, list[str]]:
    source = StudySource([study], protocol("matching"))
    return {
        each.image.file_name: [caption.text for caption in each.captions.values()]
        for each in source.captioned()
    }


def test_an_export_reads_every_captioned_image_of_its_corpus(study: Study) -> None:
    assert captioned(study) == {
        f"image_{number:012d}.png": [
            f"Caption 0 of image {number}.",
            f"Caption 1 of image {number}.",
        ]
        for number in (1, 2, 3)
    }


def test_an_export_of_a_split_reads_that_split_alone(study: Study) -> None:
    study.split = "test"
    study.save()
    assert list(captioned(study)) == ["image_000000000002.png", "image_000000000003.png"]


@pytest.mark.parametrize(
    ("splits", "found"),
    [
        (("val", "val", "test"), "val"),
        (("val", "test", "test"), "test+val"),
        (("val", "", "test"), ""),
        (("test", "test", "test"), "test"),
        (("", "", ""), ""),
    ],
)
def test_a_study_that_names_no_split_is_of_that_of_all_it_asks_about(
    splits: tuple[str, ...], found: str
) -> None:
    corpus = making.corpus(images=3)
    images = list(corpus.images.order_by("pk"))
    for image, split in zip(images, splits, strict=True):
        Image.objects.filter(pk=image.pk).update(split=split)
    (text,) = images[0].captions.all()[:1]
    row = {"caption": text.pk, "positive": images[0].pk, "negative": images[1].pk}
    study = study_of("bison_images", corpus, [row])
    assert StudySource([study], protocol("bison_images")).split == found
