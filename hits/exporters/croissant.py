"""Croissant: what machines read about a dataset, as JSON-LD (mlcommons.org/croissant/1.0)."""

from collections.abc import Mapping, Sequence
from typing import Any

from hits.exporters.formats import PART_OF_AN_ANSWER, Kind, Typed, Written

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {
    Kind.TEXT: "sc:Text",
    Kind.WHOLE: "sc:Integer",
    Kind.NUMBER: "sc:Float",
    Kind.FLAG: "sc:Boolean",
    Kind.TIME: "sc:Date",
    Kind.TEXTS: "sc:Text",
}
_MEDIA = {
    "csv": "text/csv",
    "jsonl": "application/jsonlines",
    "json": "application/json",
    "parquet": "application/x-parquet",
    "txt": "text/plain",
    "md": "text/markdown",
}


def croissant(
    *,
    name: str,
    version: str,
    description: str,
    licence: str,
    dated: str | None,
    files: Mapping[str, Written],
    tables: Mapping[str, Sequence[Typed]],
) -> dict[str, Any]:
    """Of a folder with these files, of which each table is one in Parquet."""
    found: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "version": f"{version}.0",
        "description": description,
        "license": licence or "not stated",
        "citeAs": f"{name}, version {version}",
        "url": f"urn:release:{name}:{version}",
        "isLiveDataset": False,
        "distribution": [_file(called, written) for called, written in sorted(files.items())],
        "recordSet": [_table(called, columns) for called, columns in tables.items()],
    }
    return found | ({"datePublished": dated} if dated else {})


def _file(name: str, written: Written) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{written.size} B",
        "encodingFormat": _MEDIA.get(name.rpartition(".")[2], "application/octet-stream"),
        "sha256": written.sha256,
    }


def _table(name: str, columns: Sequence[Typed]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        # Croissant has no type for a list of an answer and its count.
        "field": [_field(name, column) for column in columns if column.kind != Kind.COUNTS],
    }


def _field(table: str, column: Typed) -> dict[str, Any]:
    source = {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": column.name}}
    found = {
        "@type": "cr:Field",
        "@id": f"{table}/{column.name}",
        "name": column.name,
        "description": column.meaning or PART_OF_AN_ANSWER,
        "dataType": _TYPES[column.kind],
        "source": source,
    }
    return found | ({"repeated": True} if column.kind == Kind.TEXTS else {})
