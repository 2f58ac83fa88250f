"""The form of a page as a browser would send it."""

from html.parser import HTMLParser

WAYS_TO_ANSWER = 8


class Form(HTMLParser):
    """The controls of a page's form, by name, with what each offers."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.choices: dict[str, list[str]] = {}
        self.boxes: dict[str, list[str]] = {}
        self.sliders: dict[str, tuple[float, float]] = {}
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        name, kind = found.get("name", ""), found.get("type", "text")
        if not name.startswith("q") or name.endswith(("-broken", "-problem", "-ms")):
            return
        if tag == "input" and kind == "radio":
            self.choices.setdefault(name, []).append(found["value"])
        elif tag == "input" and kind == "checkbox":
            self.boxes.setdefault(name, []).append(found["value"])
        elif tag == "input" and kind == "range":
            self.sliders[name] = float(found.get("min", 0)), float(found.get("max", 100))
        elif tag == "textarea" or (tag == "input" and kind == "text"):
            self.texts.append(name)

    def filled(self, way: int) -> dict[str, list[str]]:
        """Everything filled in; another `way` chooses other answers."""
        fields = {name: [offered[way % len(offered)]] for name, offered in self.choices.items()}
        fields |= {name: offered[-2:] for name, offered in self.boxes.items()}
        for name, (low, high) in self.sliders.items():
            fields[name] = [str(low + (high - low) * way / (WAYS_TO_ANSWER - 1))]
        return fields | {name: ["Some words."] for name in self.texts}
