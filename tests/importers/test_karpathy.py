from typing import Any

from hits.importers.records import CaptionRecord, ImageRecord
from tests.importers.files import read


def dataset(**values: Any) -> dict[str, Any]:
    image = {
        "filepath": "val2014",
        "sentids": [770337],
        "filename": "COCO_val2014_000000391895.jpg",
        "imgid": 0,
        "split": "restval",
        "sentences": [{"tokens": ["a", "man"], "raw": "A man.", "imgid": 0, "sentid": 770337}],
        "cocoid": 391895,
    }
    return {"images": [image | values], "dataset": "coco"}


def test_images_come_with_their_sentences_under_the_ids_of_coco() -> None:
    records, refusals = read("dataset_coco.json", dataset())
    name = "COCO_val2014_000000391895.jpg"
    assert records == [
        ImageRecord("images[0]", "391895", name, folder="val2014", split="restval"),
        CaptionRecord("images[0].sentences[0]", "770337", "391895", "A man."),
    ]
    assert refusals == []


def test_without_an_id_of_coco_the_layouts_own_id_is_taken() -> None:
    data = dataset()
    del data["images"][0]["cocoid"]
    records, _ = read("dataset_flickr30k.json", data)
    assert records[0].external_id == "0"


def test_a_bad_sentence_is_refused_and_its_image_kept() -> None:
    sentences = [{"sentid": 1, "raw": ""}, {"sentid": 2, "raw": "A dog."}, 3, {"raw": "No id."}]
    records, refusals = read("x.json", dataset(sentences=sentences))
    assert [record.external_id for record in records] == ["391895", "2"]
    assert [(r.place, r.external_id, r.reason) for r in refusals] == [
        ("images[0].sentences[0]", "1", "empty"),
        ("images[0].sentences[2]", "", "not-an-object"),
        ("images[0].sentences[3]", "", "no-id"),
    ]


def test_a_bad_image_is_refused_with_its_place() -> None:
    records, (refusal,) = read("x.json", dataset(cocoid=1.5))
    assert records == []
    assert (refusal.kind, refusal.place, refusal.reason) == ("image", "images[0]", "bad-id")
