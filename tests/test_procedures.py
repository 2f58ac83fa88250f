from hits.procedures import OTHERS, by_paper, nearest, procedures
from hits.protocol import registry


def test_every_protocol_can_be_started_from() -> None:
    assert {procedure.protocol for procedure in procedures().values()} == set(registry())


def test_settings_of_procedures_are_settings_of_their_protocols() -> None:
    for procedure in procedures().values():
        registry()[procedure.protocol].settings_model.model_validate(procedure.settings)


def test_every_protocol_belongs_to_a_paper() -> None:
    assert OTHERS not in dict(by_paper())


def test_settings_are_known_by_the_paper_they_are_most_like() -> None:
    stage_2 = registry()["matching"].settings_model.model_validate({"justification": False})
    like = nearest("matching", stage_2.model_dump())
    assert (like.slug, like.changed(stage_2.model_dump())) == ("eccv-caption-to-image", [])
    changed = stage_2.model_dump() | {"candidates_a_page": 9}
    assert nearest("matching", changed).changed(changed) == ["candidates_a_page"]
