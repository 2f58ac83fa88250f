"""QuestionFormAnswers: how a worker's answers come back to the requester."""

import re
from collections.abc import Iterable
from xml.etree import ElementTree

NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"
    "QuestionFormAnswers.xsd"
)
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def question_form_answers(answers: Iterable[tuple[str, str]]) -> str:
    root = ElementTree.Element(f"{{{NAMESPACE}}}QuestionFormAnswers")
    for name, text in answers:
        answer = ElementTree.SubElement(root, f"{{{NAMESPACE}}}Answer")
        for tag, value in (("QuestionIdentifier", name), ("FreeText", text)):
            ElementTree.SubElement(answer, f"{{{NAMESPACE}}}{tag}").text = _NOT_XML.sub(
                "\ufffd", value
            )
    written = ElementTree.tostring(root, encoding="unicode", default_namespace=NAMESPACE)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{written}'
