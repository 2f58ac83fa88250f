"""Five captions for a scene: from a few words to every detail, each with the claim it makes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from hits.demo.scenes import Group, Scene
from hits.demo.truth import MANY, Claim, Mention, Relation, is_true

CAPTIONS_A_SCENE = 5
# Far more than any scene needs: running out means that wording and truth disagree.
TRIES = 500

NOUNS: dict[str, tuple[tuple[str, str], ...]] = {
    "cat": (("cat", "cats"),),
    "dog": (("dog", "dogs"),),
    "duck": (("duck", "ducks"),),
    "ball": (("ball", "balls"), ("striped ball", "striped balls")),
    "gift": (("gift", "gifts"), ("present", "presents"), ("gift box", "gift boxes")),
    "mug": (("mug", "mugs"), ("coffee mug", "coffee mugs"), ("cup", "cups")),
    "tulip": (("tulip", "tulips"), ("potted tulip", "potted tulips")),
    "umbrella": (("umbrella", "umbrellas"), ("parasol", "parasols")),
    "house": (("house", "houses"), ("cottage", "cottages")),
    "car": (("car", "cars"),),
    "boat": (("boat", "boats"), ("sailing boat", "sailing boats"), ("sailboat", "sailboats")),
    "kite": (("kite", "kites"),),
    "balloon": (("balloon", "balloons"),),
    "bird": (("bird", "birds"),),
    "butterfly": (("butterfly", "butterflies"),),
}
CLASSES: dict[str, tuple[tuple[str, ...], tuple[str, str]]] = {
    "cat": (("cat", "dog"), ("pet", "pets")),
    "dog": (("cat", "dog"), ("pet", "pets")),
    "duck": (("cat", "dog", "duck", "bird", "butterfly"), ("animal", "animals")),
    "tulip": (("tulip",), ("flower in a pot", "flowers in pots")),
}
COLOURS: dict[tuple[str, str], tuple[str, ...]] = {("cat", "orange"): ("orange", "ginger")}
SIZES = {"small": ("small", "little"), "large": ("large", "big")}
NUMBERS = {2: ("two", "two", "two", "a pair of"), 3: ("three",), 4: ("four",)}

GROUND: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "meadow": (
        ("on the grass", ("meadow", "night")),
        ("on a meadow", ("meadow", "night")),
        ("in a green meadow under a blue sky", ("meadow",)),
        ("on a sunny meadow", ("meadow",)),
    ),
    "beach": (
        ("on a beach", ("beach",)),
        ("on the sand", ("beach",)),
        ("on a sandy beach", ("beach",)),
        ("by the sea", ("beach",)),
    ),
    "snow": (
        ("in the snow", ("snow",)),
        ("on a snowy field", ("snow",)),
        ("on a winter day", ("snow",)),
    ),
    "night": (
        ("at night", ("night",)),
        ("in the moonlight", ("night",)),
        ("on the grass at night", ("night",)),
        ("under a full moon", ("night",)),
    ),
    "lake": (("on a lake", ("lake",)), ("on the water", ("lake",)), ("on a calm lake", ("lake",))),
    "table": (
        ("on a table", ("table",)),
        ("on a wooden table", ("table",)),
        ("on the table", ("table",)),
    ),
}
AIR: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "meadow": (
        ("over a meadow", ("meadow", "night")),
        ("in a sunny sky", ("meadow", "beach", "lake")),
    ),
    "beach": (("over a beach", ("beach",)), ("above the sand", ("beach",))),
    "snow": (("over a snowy field", ("snow",)), ("above the snow", ("snow",))),
    "night": (("in the night sky", ("night",)), ("in the moonlight", ("night",))),
    "lake": (("over a lake", ("lake",)), ("above the water", ("lake",))),
    "table": (("above a table", ("table",)), ("over a wooden table", ("table",))),
}
DOING: dict[str, tuple[str, ...]] = {
    "duck": ("resting",),
    "ball": ("lying",),
    "gift": ("lying", "sitting"),
    "mug": ("standing", "sitting"),
    "tulip": ("standing",),
    "umbrella": ("standing", "set up"),
    "house": ("standing",),
    "car": ("parked",),
    "boat": ("resting",),
    "kite": ("flying",),
    "balloon": ("floating",),
    "bird": ("flying",),
    "butterfly": ("fluttering",),
}


@dataclass(frozen=True, slots=True)
class Caption:
    text: str
    claim: Claim


@dataclass(frozen=True, slots=True)
class Phrase:
    words: str
    mention: Mention

    @property
    def verb(self) -> str:
        one = self.mention.most == 1 or self.words.startswith("a pair")
        return "is" if one else "are"


@lru_cache(maxsize=512)
def captions(scene: Scene) -> tuple[Caption, ...]:
    rng = random.Random(f"captions {scene.seed} {scene.number}")
    chosen: list[Caption] = []
    for sentence in islice(_sentences(rng, scene), TRIES):
        new = all(sentence.text != caption.text for caption in chosen)
        if new and is_true(scene, sentence.claim).choice == "yes":
            chosen.append(sentence)
        if len(chosen) == CAPTIONS_A_SCENE:
            return tuple(chosen)
    raise ValueError(f"Nothing more that is true can be said of scene {scene.number}.")


def _sentences(rng: random.Random, scene: Scene) -> Iterator[Caption]:
    """What could be said, in an order that gives a mixture; without end, as some is not true."""
    styles: list[Callable[[random.Random, Scene], Caption]] = [_brief, _placed, _detailed]
    if len(scene.groups) > 1:
        styles += [_listed, _related]
    while True:
        for style in styles:
            sentence = style(rng, scene)
            yield replace(sentence, text=sentence.text[0].upper() + sentence.text[1:] + ".")


def _brief(rng: random.Random, scene: Scene) -> Caption:
    vague = rng.random() < 0.4
    phrase = _phrase(rng, scene.main, colour=rng.random() < 0.6, classed=vague, loose=vague)
    opening = rng.choice(("{}", "{}", "a picture of {}", "there {verb} {}", "here {verb} {}"))
    return Caption(opening.format(phrase.words, verb=phrase.verb), Claim((phrase.mention,)))


def _placed(rng: random.Random, scene: Scene) -> Caption:
    phrase = _phrase(rng, scene.main, colour=rng.random() < 0.7, size=rng.random() < 0.25)
    doing, phrase = _doing(rng, scene, scene.main, phrase)
    place, settings = _place(rng, scene, scene.main)
    text = rng.choice(
        (
            f"{phrase.words} {place}",
            f"{phrase.words} {doing} {place}",
            f"there {phrase.verb} {phrase.words} {place}",
            f"{phrase.words} {phrase.verb} {doing} {place}",
        )
    )
    mention = phrase.mention if doing in text else replace(phrase.mention, pose=None)
    return Caption(text, Claim((mention,), settings))


def _detailed(rng: random.Random, scene: Scene) -> Caption:
    group = scene.main
    phrase = _phrase(rng, group, colour=True, size=rng.random() < 0.6)
    doing, phrase = _doing(rng, scene, group, phrase)
    place, settings = _place(rng, scene, group)
    if group.facing is None:
        return Caption(f"{phrase.words} {doing} {place}", Claim((phrase.mention,), settings))
    mention = replace(phrase.mention, facing=group.facing)
    if group.kind in ("car", "bird"):
        moving = {"car": "pointing", "bird": "flying"}[group.kind]
        text = f"{phrase.words} {moving} to the {group.facing} {place}"
        return Caption(text, Claim((mention,), settings))
    text = f"{phrase.words} {doing} {place}, facing {group.facing}"
    return Caption(text, Claim((mention,), settings))


def _listed(rng: random.Random, scene: Scene) -> Caption:
    """All groups, or the main one and another, in one breath."""
    others = [group for group in scene.groups if group != scene.main]
    rng.shuffle(others)
    named = [scene.main, *others[: rng.choice((1, 2))]]
    phrases = [_phrase(rng, group, colour=rng.random() < 0.75) for group in named]
    mentions = tuple(phrase.mention for phrase in phrases)
    zones = [(phrase.words, group.zone) for phrase, group in zip(phrases, named, strict=True)]
    below = _joined([words for words, zone in zones if zone == "ground"])
    above = _joined([words for words, zone in zones if zone == "air"])
    settings: tuple[str, ...] = ()
    if not below:
        place, settings = _place(rng, scene, named[0])
        return Caption(f"{above} {place}", Claim(mentions, settings))
    if rng.random() < 0.7:
        place, settings = rng.choice(GROUND[scene.setting])
        below = f"{below} {place}"
    if not above:
        return Caption(below, Claim(mentions, settings))
    texts = (f"{below} with {above} overhead", f"{below}, with {above} in the air")
    return Caption(rng.choice(texts), Claim(mentions, settings))


def _related(rng: random.Random, scene: Scene) -> Caption:
    other = rng.choice([group for group in scene.groups if group != scene.main])
    if other.zone != scene.main.zone:
        return _stacked(rng, scene, other)
    pair = [group for group in scene.groups if group in (scene.main, other)]
    first, second = (_phrase(rng, group, colour=rng.random() < 0.8) for group in pair)
    claim = Claim((first.mention, second.mention), (), (Relation(0, "left_of", 1),))
    a, b = first.words, second.words
    texts = [
        f"{a} to the left of {b}",
        f"{b} to the right of {a}",
        f"on the left {first.verb} {a}, on the right {second.verb} {b}",
        f"{a} on the left and {b} on the right",
        f"{b} with {a} to the left",
    ]
    if rng.random() < 0.6:
        return Caption(rng.choice(texts), claim)
    place, settings = _place(rng, scene, scene.main)
    texts = [
        f"{place}, {a} {first.verb} to the left of {b}",
        f"{a} on the left and {b} on the right, {place}",
    ]
    return Caption(rng.choice(texts), replace(claim, settings=settings))


def _stacked(rng: random.Random, scene: Scene, other: Group) -> Caption:
    high, low = (scene.main, other) if other.zone == "ground" else (other, scene.main)
    above = _phrase(rng, high, colour=rng.random() < 0.8)
    below = _phrase(rng, low, colour=rng.random() < 0.8, size=rng.random() < 0.2)
    doing, _ = _doing(rng, scene, high, above)
    texts = [
        f"{above.words} {doing} above {below.words}",
        f"{above.words} high above {below.words}",
        f"{below.words} below {above.words}",
    ]
    claim = Claim((above.mention, below.mention), (), (Relation(0, "above", 1),))
    if rng.random() < 0.5:
        return Caption(rng.choice(texts), claim)
    place, settings = _place(rng, scene, low)
    texts = [
        f"{above.words} {doing} above {below.words} {place}",
        f"{below.words} {below.verb} {place} while {above.words} {above.verb} {doing} overhead",
        f"{place}, there {below.verb} {below.words} below {above.words}",
    ]
    return Caption(rng.choice(texts), replace(claim, settings=settings))


def _phrase(rng: random.Random, group: Group, *, colour: bool, size: bool = False,
            classed: bool = False, loose: bool = False) -> Phrase:  # fmt: skip
    kinds: tuple[str, ...] = (group.kind,)
    noun = rng.choice(NOUNS[group.kind])
    if classed and group.kind in CLASSES and rng.random() < 0.5:
        kinds, noun = CLASSES[group.kind]
    words = [rng.choice(SIZES[group.size])] if size else []
    if colour:
        words.append(rng.choice(COLOURS.get((group.kind, group.colour), (group.colour,))))
    words.append(noun[0] if group.count == 1 else noun[1])
    number, fewest, most = _number(rng, group.count, loose, words[0])
    mention = Mention(
        kinds,
        fewest,
        most,
        colour=group.colour if colour else None,
        size=group.size if size else None,
    )
    return Phrase(" ".join([number, *words]).strip(), mention)


def _number(rng: random.Random, count: int, loose: bool, next_word: str) -> tuple[str, int, int]:
    if count == 1:
        return ("an" if next_word[0] in "aeiou" else "a"), 1, 1
    if loose and count > 2:
        return "several", 3, MANY
    if loose:
        return "some", 2, MANY
    return rng.choice(NUMBERS[count]), count, count


def _doing(rng: random.Random, scene: Scene, group: Group, phrase: Phrase) -> tuple[str, Phrase]:
    if group.pose is not None:
        return group.pose, Phrase(phrase.words, replace(phrase.mention, pose=group.pose))
    if scene.setting == "lake" and group.zone == "ground":
        return ("swimming" if group.kind == "duck" else "floating"), phrase
    return rng.choice(DOING[group.kind]), phrase


def _place(rng: random.Random, scene: Scene, group: Group) -> tuple[str, tuple[str, ...]]:
    return rng.choice((AIR if group.zone == "air" else GROUND)[scene.setting])


def _joined(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
