import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection, connections

from hits.models import Blob, Caption, Corpus, Image, Region
from hits.pipeline import blobs
from hits.pipeline.errors import Refused
from hits.pipeline.load import load, refusals
from tests.importers.files import coco, no_progress, picture, run, two_images, write

pytestmark = pytest.mark.django_db


def everything() -> list[list[tuple[Any, ...]]]:
    """All rows of a corpus, with their keys."""
    return [
        list(model.objects.order_by("pk").values_list())
        for model in (Corpus, Image, Caption, Region, Blob)
    ]


def many(count: int) -> dict[str, Any]:
    return coco(
        images=[{"id": n, "file_name": f"{n:012d}.jpg"} for n in range(count)],
        annotations=[
            {"id": n * 5 + k, "image_id": n, "caption": f"Caption {k} of image {n}."}
            for n in range(count)
            for k in range(5)
        ],
    )


def folder_of_all_formats(folder: Path) -> Path:
    write(folder / "captions_val2017.json", two_images())
    boxes = [{"id": 1, "image_id": 37777, "category_id": 3, "bbox": [1, 2, 3, 4], "area": 9.5}]
    categories = [{"id": 3, "name": "orange"}]
    write(folder / "instances_val2017.json", coco(two_images()["images"], boxes, categories))
    sentences = [{"sentid": 9, "raw": "A man in a kitchen."}, {"sentid": 20, "raw": "A cook."}]
    karpathy = {"filename": "000000397133.jpg", "cocoid": 397133, "sentences": sentences}
    write(folder / "dataset.json", {"images": [karpathy]})
    write(
        folder / "rows.csv", "image_id,file_name,caption_id,caption,split\n8,c.png,80,A cup.,val\n"
    )
    write(folder / "rows.jsonl", '{"image_id": 9, "file_name": "d.webp"}\n')
    write(folder / "images" / "000000397133.jpg", picture(1))
    write(folder / "images" / "000000037777.jpg", picture(4))
    write(folder / "images" / "c.png", picture(2, "PNG"))
    write(folder / "images" / "d.webp", picture(3, "WEBP"))
    return folder


def test_a_second_import_changes_nothing(corpus: Corpus, tmp_path: Path) -> None:
    source = folder_of_all_formats(tmp_path / "source")
    first = run(corpus, source)
    assert first.refused == 0
    assert (first.images.added, first.captions.added, first.regions.added) == (4, 6, 1)
    assert first.files.added == 4
    stored = everything()
    second = run(corpus, source)
    assert everything() == stored
    assert not second.changed_anything
    assert second.refused == 0
    assert (second.images.unchanged, second.captions.unchanged) == (4, 6)
    assert (second.regions.unchanged, second.files.unchanged) == (1, 4)


def test_twenty_five_thousand_captions_twice(corpus: Corpus, tmp_path: Path) -> None:
    source = write(tmp_path / "captions.json", many(5_000))
    first, second = run(corpus, source), run(corpus, source)
    assert (first.images.added, first.captions.added) == (5_000, 25_000)
    assert (second.images.unchanged, second.captions.unchanged) == (5_000, 25_000)
    assert not second.changed_anything
    assert corpus.captions.count() == 25_000


def test_a_load_that_was_stopped_is_finished_by_the_next(corpus: Corpus, tmp_path: Path) -> None:
    source = write(tmp_path / "captions.json", many(400))

    class Stopped(Exception):
        pass

    def stop(done: int, total: int | None = None, message: str = "") -> None:
        if corpus.images.exists():
            raise Stopped

    with pytest.raises(Stopped):
        load(corpus=corpus.slug, source=str(source), progress=stop)
    report = run(corpus, source)
    assert report.images.added + report.images.unchanged == 400
    assert report.captions.added == 2_000
    assert report.refused == 0


def test_images_without_captions_are_kept_with_their_split(corpus: Corpus, tmp_path: Path) -> None:
    rows = "image_id,file_name,caption_id,caption,split\n1,a.jpg,,,pool\n2,b.jpg,,,\n"
    run(corpus, write(tmp_path / "rows.csv", rows), split="test")
    assert list(corpus.images.order_by("pk").values_list("external_id", "split")) == [
        ("1", "pool"),
        ("2", "test"),
    ]
    assert not corpus.captions.exists()


def test_the_name_of_a_coco_file_tells_the_split(corpus: Corpus, tmp_path: Path) -> None:
    run(corpus, write(tmp_path / "captions_val2017.json", two_images()))
    assert set(corpus.images.values_list("split", flat=True)) == {"val"}


def test_a_split_from_a_file_name_gives_way_to_one_that_is_told(
    corpus: Corpus, tmp_path: Path
) -> None:
    """COCO's own file and Karpathy's splits of it go together."""
    image = {"filename": "000000397133.jpg", "cocoid": 397133, "split": "restval", "sentences": []}
    write(tmp_path / "source" / "captions_val2014.json", two_images())
    write(tmp_path / "source" / "dataset.json", {"images": [image]})
    report = run(corpus, tmp_path / "source")
    assert report.reasons == {"no-file": 2}
    assert corpus.images.get(external_id="397133").split == "restval"
    assert corpus.images.get(external_id="37777").split == "val"


def test_html_and_emoji_in_a_caption_are_kept_as_plain_text(corpus: Corpus, tmp_path: Path) -> None:
    texts = [
        "<script>alert('x')</script> &amp; <b>a cup</b>",
        "Ein Becher ☕🏽 \\N \t é",
        "杯子\r\n",
    ]
    annotations = [{"id": n, "image_id": 1, "caption": text} for n, text in enumerate(texts)]
    run(corpus, write(tmp_path / "c.json", coco([{"id": 1}], annotations)))
    assert list(corpus.captions.order_by("pk").values_list("text", flat=True)) == texts


def test_a_caption_that_reads_otherwise_is_refused_and_never_overwritten(
    corpus: Corpus, tmp_path: Path
) -> None:
    data = two_images()
    run(corpus, write(tmp_path / "c.json", data))
    stored = everything()
    data["annotations"][1]["caption"] = "Vegetables on a counter."
    data["annotations"][2]["image_id"] = 37777
    report = run(corpus, write(tmp_path / "c.json", data))
    assert everything() == stored
    assert (report.captions.unchanged, report.captions.refused) == (2, 2)
    assert [(r["place"], r["id"], r["reason"]) for r in report.first_refusals] == [
        ("annotations[1]", "10", "conflict"),
        ("annotations[2]", "11", "conflict"),
    ]


def test_one_file_that_contradicts_itself_keeps_what_came_first(
    corpus: Corpus, tmp_path: Path
) -> None:
    data = two_images()
    data["annotations"].append({"id": 9, "image_id": 397133, "caption": "A dog."})
    data["annotations"].append({"id": 9, "image_id": 397133, "caption": "A man in a kitchen."})
    report = run(corpus, write(tmp_path / "c.json", data))
    assert (report.captions.added, report.captions.unchanged, report.captions.refused) == (4, 0, 1)
    assert corpus.captions.get(external_id="9").text == "A man in a kitchen."


def test_another_image_under_a_known_id_is_refused_with_its_captions(
    corpus: Corpus, tmp_path: Path
) -> None:
    run(corpus, write(tmp_path / "c.json", two_images()))
    stored = everything()
    other = coco(
        [{"id": 37777, "file_name": "other.jpg"}], [{"id": 99, "image_id": 37777, "caption": "?"}]
    )
    report = run(corpus, write(tmp_path / "other.json", other))
    assert everything() == stored
    assert [(r["kind"], r["id"], r["reason"]) for r in report.first_refusals] == [
        ("image", "37777", "conflict"),
        ("caption", "99", "refused-image"),
    ]


def test_a_changed_region_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    box = {"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4], "area": 0.1}
    data = coco([{"id": 1}], [box], [{"id": 3, "name": "cup"}, {"id": 4, "name": "bowl"}])
    run(corpus, write(tmp_path / "i.json", data))
    outline = {"segmentation": [[1, 2, 3, 2, 3, 5]]}
    for change in ({"bbox": [1, 2, 3, 4.5]}, {"category_id": 4}, {"area": 0.2}, outline):
        report = run(corpus, write(tmp_path / "i.json", data | {"annotations": [box | change]}))
        assert report.reasons == {"conflict": 1}
    assert run(corpus, write(tmp_path / "i.json", data)).regions.unchanged == 1


def test_a_caption_of_an_unknown_image_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    data = coco(annotations=[{"id": 1, "image_id": 5, "caption": "A cup."}])
    report = run(corpus, write(tmp_path / "c.json", data))
    assert report.first_refusals[0]["reason"] == "unknown-image"
    assert report.first_refusals[0]["detail"] == "The corpus has no image 5."


def test_captions_may_come_later_than_their_images(corpus: Corpus, tmp_path: Path) -> None:
    data = two_images()
    run(corpus, write(tmp_path / "images.json", {"images": data["images"]}))
    report = run(corpus, write(tmp_path / "c.json", {"annotations": data["annotations"]}))
    assert report.captions.added == 4


def test_what_an_image_lacked_is_filled_in_later(corpus: Corpus, tmp_path: Path) -> None:
    run(corpus, write(tmp_path / "c.json", coco([{"id": 1}])))
    whole = {"id": 1, "file_name": "a.jpg", "width": 3, "height": 4, "split": "test"}
    report = run(corpus, write(tmp_path / "c.json", coco([whole])))
    assert (report.images.completed, report.images.unchanged) == (1, 0)
    assert corpus.images.values_list("file_name", "width", "height", "split").get() == (
        "a.jpg", 3, 4, "test",
    )  # fmt: skip


def test_a_line_that_is_not_json_is_in_the_report_and_the_others_are_loaded(
    corpus: Corpus, tmp_path: Path
) -> None:
    source = write(tmp_path / "rows.jsonl", '{"image_id": 1}\n{"image_id": 2\n{"image_id": 3}\n')
    report = run(corpus, source, report=str(tmp_path / "refused.jsonl"))
    assert report.images.added == 2
    (line,) = refusals(str(tmp_path / "refused.jsonl"))
    assert (line["file"], line["place"], line["reason"]) == ("rows.jsonl", "line 2", "not-json")


def test_of_a_file_that_breaks_off_nothing_is_taken(corpus: Corpus, tmp_path: Path) -> None:
    whole = json.dumps(many(4_000))
    write(tmp_path / "source" / "broken.json", whole[:-100])
    write(tmp_path / "source" / "good.jsonl", '{"image_id": "good"}\n')
    report = run(corpus, tmp_path / "source")
    assert report.reasons == {"not-json": 1}
    assert [image.external_id for image in corpus.images.all()] == ["good"]


def test_the_report_names_every_refusal_and_holds_only_the_first_ones(
    corpus: Corpus, tmp_path: Path
) -> None:
    source = write(tmp_path / "rows.jsonl", "no\n" * 3_000)
    report = run(corpus, source)
    assert report.refused == 3_000
    assert len(report.first_refusals) == 20
    assert sum(1 for _ in refusals(report.refusals)) == 3_000
    assert len(json.dumps(report.as_json())) < 10_000


def test_an_image_gets_its_file_later(corpus: Corpus, tmp_path: Path) -> None:
    run(corpus, write(tmp_path / "c.json", coco([{"id": 1, "file_name": "val/a.jpg"}])))
    data = picture()
    report = run(corpus, write(tmp_path / "images" / "a.jpg", data).parent)
    image = corpus.images.select_related("blob").get()
    assert report.files.added == 1
    assert image.blob is not None
    assert (image.width, image.height, image.blob.content_type) == (64, 48, "image/jpeg")
    assert blobs.path_of(image.blob.sha256).read_bytes() == data


def test_other_bytes_for_an_image_are_refused(corpus: Corpus, tmp_path: Path) -> None:
    source = write(tmp_path / "s" / "c.json", coco([{"id": 1, "file_name": "a.jpg"}])).parent
    write(source / "a.jpg", picture(1))
    run(corpus, source)
    stored = everything()
    write(source / "a.jpg", picture(2))
    report = run(corpus, source)
    assert report.reasons == {"conflict": 1}
    assert everything() == stored


def test_files_are_matched_by_folder_before_base_name(corpus: Corpus, tmp_path: Path) -> None:
    images = [
        {"filename": "1.jpg", "filepath": "val", "imgid": 1, "sentences": []},
        {"filename": "1.jpg", "filepath": "test", "imgid": 2, "sentences": []},
        {"filename": "3.jpg", "filepath": "test", "imgid": 3, "sentences": []},
    ]
    write(tmp_path / "s" / "dataset.json", {"images": images})
    for number, name in enumerate(["val/1.jpg", "test/1.jpg", "elsewhere/3.jpg", "other/1.jpg"]):
        write(tmp_path / "s" / name, picture(number * 50, "PNG"))
    report = run(corpus, tmp_path / "s")
    assert report.files.added == 3
    assert [(r["file"], r["reason"]) for r in report.first_refusals] == [
        ("other/1.jpg", "ambiguous")
    ]
    kept = [image.blob_id for image in corpus.images.order_by("external_id")]
    assert len(set(kept)) == 3
    first = corpus.images.get(external_id="1").blob_id
    assert blobs.path_of(str(first)).read_bytes() == (tmp_path / "s/val/1.jpg").read_bytes()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not-an-image"),
        (b"<!doctype html><script>alert(1)</script>", "not-an-image"),
        (picture(format_name="GIF"), "not-an-image"),
        (picture()[:400], "broken-image"),
        (picture(size=(400, 400)), "too-many-pixels"),
        (picture(size=(100, 100), format_name="PNG"), "too-large"),
        (b"", "empty"),
    ],
)
def test_a_bad_image_file_is_refused_and_not_kept(
    data: bytes, reason: str, corpus: Corpus, tmp_path: Path, settings: LazySettings
) -> None:
    settings.MAX_IMAGE_PIXELS, settings.MAX_IMAGE_BYTES = 50_000, 100_000
    if reason == "too-large":
        settings.MAX_IMAGE_BYTES = len(data) - 1
    source = write(tmp_path / "s" / "c.json", coco([{"id": 1, "file_name": "a.jpg"}])).parent
    write(source / "a.jpg", data)
    report = run(corpus, source)
    assert [(r["file"], r["id"], r["reason"]) for r in report.first_refusals] == [
        ("a.jpg", "1", reason)
    ]
    assert not Blob.objects.exists()
    assert not (tmp_path / "data" / "blobs").exists()


def test_a_file_without_a_record_and_a_link_out_are_refused_by_name(
    corpus: Corpus, tmp_path: Path
) -> None:
    secret = write(tmp_path / "secret.json", two_images())
    source = write(tmp_path / "s" / "stranger.jpg", picture()).parent
    (source / "link.json").symlink_to(secret)
    write(source / ".DS_Store", b"clutter")
    write(source / "none.csv", "image_id,file_name\n")
    report = run(corpus, source)
    assert {r["file"]: r["reason"] for r in report.first_refusals} == {
        "stranger.jpg": "no-record",
        "link.json": "link",
    }
    assert not corpus.images.exists()


def test_a_file_name_that_is_no_text_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    source = tmp_path / "s"
    source.mkdir()
    (source / "caf\udce9.jpg").write_bytes(picture())
    write(source / "none.csv", "image_id,file_name\n")
    report = run(corpus, source)
    assert report.reasons == {"not-text": 1}


def test_a_blob_lost_from_the_disk_comes_back_with_the_next_import(
    corpus: Corpus, tmp_path: Path
) -> None:
    source = write(tmp_path / "s" / "c.json", coco([{"id": 1, "file_name": "a.jpg"}])).parent
    write(source / "a.jpg", picture())
    run(corpus, source)
    path = blobs.path_of(Blob.objects.get().sha256)
    path.unlink()
    report = run(corpus, source)
    assert report.files.unchanged == 1
    assert path.read_bytes() == (source / "a.jpg").read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"corpus": "nowhere"}, "no corpus nowhere"),
        ({"source": "/nowhere/at/all"}, "no file or folder"),
        ({"format_name": "xml"}, "no format xml"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(
    options: dict[str, str], words: str, corpus: Corpus, tmp_path: Path
) -> None:
    source = write(tmp_path / "c.json", two_images())
    with pytest.raises(Refused, match=words):
        load(**{"corpus": corpus.slug, "source": str(source), **options}, progress=no_progress)


def test_an_image_whose_file_never_came_is_in_the_report_once(
    corpus: Corpus, tmp_path: Path
) -> None:
    source = write(tmp_path / "s" / "a.json", two_images()).parent
    write(source / "b.json", two_images())
    write(source / "000000397133.jpg", picture())
    report = run(corpus, source)
    assert (report.images.added, report.files.added, report.files.refused) == (2, 1, 1)
    assert report.first_refusals == [
        {
            "file": "a.json",
            "place": "images[1]",
            "kind": "file",
            "id": "37777",
            "reason": "no-file",
            "detail": "No file was found for this image: 000000037777.jpg.",
        }
    ]
    write(source / "000000037777.jpg", picture(9))
    assert run(corpus, source).refused == 0


def test_one_file_of_records_promises_no_image_files(corpus: Corpus, tmp_path: Path) -> None:
    assert run(corpus, write(tmp_path / "c.json", two_images())).refused == 0


@pytest.mark.parametrize(
    "name", ["/etc/a.jpg", "../a.jpg", "val/../../a.jpg", "C:\\a.jpg", "..\\a.jpg"]
)
@pytest.mark.parametrize("kind", ["coco", "karpathy", "rows"])
def test_a_record_with_an_unsafe_file_name_is_refused(
    name: str, kind: str, corpus: Corpus, tmp_path: Path
) -> None:
    if kind == "coco":
        source = write(tmp_path / "c.json", coco([{"id": 1, "file_name": name}]))
    elif kind == "karpathy":
        image = {"filename": name, "cocoid": 1, "sentences": []}
        source = write(tmp_path / "k.json", {"images": [image]})
    else:
        row = json.dumps({"image_id": 1, "file_name": name})
        source = write(tmp_path / "r.jsonl", row + "\n")
    report = run(corpus, source)
    assert report.reasons == {"unsafe-name": 1}
    assert not corpus.images.exists()


@pytest.mark.parametrize("name", ["c.json", "c.zip", "c.csv"])
def test_a_source_in_which_nothing_can_be_read_is_refused_as_a_whole(
    name: str, corpus: Corpus, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match=r"Nothing could be read\. c\.|neither a zip nor"):
        run(corpus, write(tmp_path / name, b"no such thing\n"))


def test_an_empty_folder_is_said_to_be_empty(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused, match="no file to import"):
        run(corpus, tmp_path / "empty")


@pytest.mark.django_db(transaction=True)
def test_progress_is_told_outside_of_any_transaction(corpus: Corpus, tmp_path: Path) -> None:
    """Else nobody would see it, and the lease of a job would run out unseen."""
    seen = []

    def note(done: int, total: int | None = None, message: str = "") -> None:
        assert not connection.in_atomic_block
        assert connection.connection.info.transaction_status == 0
        seen.append((done, total))

    source = write(tmp_path / "s" / "c.json", many(3_000)).parent
    write(source / "000000000001.jpg", picture())
    load(corpus=corpus.slug, source=str(source), progress=note)
    assert seen[0][0] >= 10_000
    # Images, captions, and their files: one was there.
    assert seen[-1] == (3_000 + 15_000 + 3_000,) * 2


@pytest.mark.django_db(transaction=True)
def test_a_second_load_into_a_corpus_waits_for_the_first(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hits.pipeline.load.WAIT_SECONDS", 1)
    source = write(tmp_path / "c.json", two_images())
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext('load'), %s)", [corpus.pk])
        with pytest.raises(Refused, match="Another import"):
            run(corpus, source)
        cursor.execute("SELECT pg_advisory_unlock(hashtext('load'), %s)", [corpus.pk])
    other.close()
    assert run(corpus, source).images.added == 2
