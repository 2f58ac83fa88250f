from hits.procedures import OTHERS, by_paper, procedures
from hits.protocol import registry


def test_every_protocol_can_be_started_from() -> None:
    assert {procedure.protocol for procedure in procedures().values()} == set(registry())


def test_settings_of_procedures_are_settings_of_their_protocols() -> None:
    for procedure in procedures().values():
        registry()[procedure.protocol].settings_model.model_validate(procedure.settings)


def test_every_protocol_belongs_to_a_paper() -> None:
    assert OTHERS not in dict(by_paper())
