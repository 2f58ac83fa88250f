import io
import json
import stat
import zipfile
from pathlib import Path

import pytest

from hits.importers.records import Bad, Refusal
from hits.importers.sources import open_source
from hits.models import Corpus, Image
from hits.pipeline.errors import Refused
from tests.importers.files import picture, run, two_images


def zipped(path: Path, members: dict[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
    return path


def refused(path: Path) -> dict[str, str]:
    with open_source(str(path)) as source:
        return {each.place: each.reason for each in source.entries() if isinstance(each, Refusal)}


@pytest.mark.parametrize(
    "name",
    ["../up.jpg", "a/../../up.jpg", "/etc/up.jpg", "C:/up.jpg", "a\\..\\up.jpg", "..", "a/.."],
)
def test_a_name_that_leads_out_is_refused_by_name(name: str, tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {name: b"x", "good.json": b"{}"})
    assert refused(path) == {name: "unsafe-name"}


def test_links_and_devices_are_refused_by_name(tmp_path: Path) -> None:
    link, device = zipfile.ZipInfo("link.jpg"), zipfile.ZipInfo("device.jpg")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    device.external_attr = (stat.S_IFCHR | 0o666) << 16
    path = zipped(tmp_path / "x.zip", {link: b"/etc/passwd", device: b"", "good.json": b"{}"})
    assert refused(path) == {"link.jpg": "link", "device.jpg": "link"}


def test_a_bomb_is_refused_by_name(tmp_path: Path) -> None:
    noise = bytes(picture(size=(700, 700)))
    path = zipped(tmp_path / "x.zip", {"bomb.json": b" " * 20_000_000, "noise.jpg": noise})
    assert refused(path) == {"bomb.json": "zip-bomb"}


def test_members_that_share_their_bytes_are_refused_as_a_bomb(tmp_path: Path) -> None:
    """The directory lists one member many times over; each alone looks harmless."""
    path = zipped(tmp_path / "x.zip", {"a.json": b"ab" * 4_000_000})
    with zipfile.ZipFile(path, "a") as archive:
        only = archive.infolist()[0]
        for number in range(2_000):
            again = zipfile.ZipInfo(f"{number}.json")
            for name in ("CRC", "compress_size", "file_size", "header_offset", "compress_type"):
                setattr(again, name, getattr(only, name))
            archive.filelist.append(again)
        archive._didModify = True  # type: ignore[attr-defined]
    with pytest.raises(Bad) as caught, open_source(str(path)):
        pass
    assert caught.value.reason == "zip-bomb"


def test_an_encrypted_member_is_refused_by_name(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"secret.json": b"{}"})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    path.write_bytes(data)
    assert refused(path) == {"secret.json": "encrypted"}


@pytest.mark.django_db
def test_a_corpus_comes_from_a_zip_and_nothing_is_written_beside_it(
    corpus: Corpus, tmp_path: Path
) -> None:
    folder = tmp_path / "upload" / "below"
    folder.mkdir(parents=True)
    good = picture()
    path = zipped(
        folder / "corpus.zip",
        {
            "annotations/captions_val2017.json": json.dumps(two_images()).encode(),
            "val2017/000000397133.jpg": good,
            "val2017/000000037777.jpg": good[:500],
            "../../000000037777.jpg": good,
            "__MACOSX/val2017/._000000397133.jpg": b"clutter",
        },
    )
    report = run(corpus, path)
    assert (report.images.added, report.captions.added, report.files.added) == (2, 4, 1)
    assert report.reasons == {"unsafe-name": 1, "broken-image": 1}
    assert [each["file"] for each in report.first_refusals] == [
        "../../000000037777.jpg",
        "val2017/000000037777.jpg",
    ]
    assert list(folder.iterdir()) == [path]
    assert list((tmp_path / "upload").iterdir()) == [folder]
    assert Image.objects.get(external_id="37777").blob is None


@pytest.mark.django_db
def test_a_member_that_is_damaged_is_refused_by_name(corpus: Corpus, tmp_path: Path) -> None:
    content = json.dumps(two_images()).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("captions.json", content)
        archive.writestr("more.jsonl", b'{"image_id": 5}\n')
    path = tmp_path / "x.zip"
    path.write_bytes(file.getvalue().replace(b"A man in a kitchen", b"A man in a chicken"))
    report = run(corpus, path)
    assert report.reasons == {"unreadable": 1}
    assert report.first_refusals[0]["file"] == "captions.json"
    assert [image.external_id for image in corpus.images.all()] == ["5"]


@pytest.mark.django_db
def test_a_zip_that_is_cut_off_is_refused_in_words(corpus: Corpus, tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"captions.json": json.dumps(two_images()).encode()})
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(Refused, match="neither a zip nor in one of these formats"):
        run(corpus, path)


@pytest.mark.django_db
def test_a_zip_bomb_as_a_whole_is_refused_in_words(corpus: Corpus, tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {f"{n}.json": b" " * 9_000_000 for n in range(3)})
    with pytest.raises(Refused, match="would unpack to 27,000,000"):
        run(corpus, path)
