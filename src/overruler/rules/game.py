"""What a game is to the range engine: its questions, its clauses and its settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from overruler.errors import did_you_mean
from overruler.games import facts_of
from overruler.reading import Node
from overruler.rules.areas.fields import AREA_FIELDS, AREA_SHAPE
from overruler.rules.fields import Question, Tap, check_type
from overruler.rules.measure import between, verdict_on
from overruler.rules.uncertainty import distance_uncertainty
from overruler.scene import Ruler, Scene
from overruler.units import SIGMAS_95, UNITS, format_length
from overruler.verdict import Verdict

if TYPE_CHECKING:
    from overruler.rules.pair_ranges import PairRanges


NO_RULER = (
    "the game has no ruler of its own, so the scene gives it (segment_mm, segments or lines_mm)"
)


class Setting(NamedTuple):
    """A choice that the rules leave to the table, made in a scene's `state.settings`."""

    name: str
    default: bool | str
    text: str
    """What true means, or a word that is not the default, in one sentence."""
    words: tuple[str, ...] = ()
    """The words that it may be; empty where it is true or false."""

    def read(self, node: Node) -> bool | str:
        """Read a choice; `BadInput` where it is none."""
        return node.choice(self.words) if self.words else node.boolean()

    def choice(self, scene: Scene) -> bool | str:
        """This table's choice."""
        settings = _read_settings(scene)
        return self.read(settings[self.name]) if settings.has(self.name) else self.default

    def chosen(self, scene: Scene) -> bool:
        """Whether this table chose true."""
        return self.choice(scene) is True


class StatField(NamedTuple):
    """A part of a piece's `stats` that questions rest on, as the page asks for it."""

    key: str
    """The path in `stats`: `ranged_weapon.range_in`. A part whose first field is empty is null."""
    label: str
    type: str
    """`whole`, `number`, `flag`, `choice`, or `figures`: a range value for each figure."""
    choices: tuple[str | int, ...] = ()
    """The values of a `choice`."""
    next_turn: str | None = None
    """The flag that this one copies in a new turn; empty: it is cleared. None: it stays."""


@dataclass(frozen=True, slots=True)
class Game:
    """The rules of one game."""

    name: str
    title: str
    questions: Mapping[str, Question]
    """By kind."""
    clauses: Mapping[str, str]
    """Each clause that an answer can rest on: its name and, in one sentence, what it says."""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    """By name."""
    taps: tuple[Tap, ...] = ()
    """What two taps on a photo ask, the usual first. Every game is asked its distances as well."""
    stat_fields: tuple[StatField, ...] = ()
    needs_ruler: bool = False
    """Whether a scene must give the ruler, because the game has none."""
    pair_ranges: "Callable[[Scene], PairRanges | None] | None" = None
    """How `rules.matrix` reads distances as ranges. None: by the ruler, contact as range 0."""

    @property
    def ruler(self) -> Ruler | None:
        """The game's own ruler."""
        return facts_of(self.name).ruler

    def example(self, kind: str) -> dict[str, Any]:
        """How a question is asked."""
        return {"question": kind, **self.questions[kind].example}

    def defaults_of(self, scene: Scene, kind: str, question: Node) -> dict[str, Any]:
        """What the scene's `state.defaults` says of fields that a question leaves out."""
        defaults = Node(scene.state.get("defaults", {}), "scene", "state.defaults").object()
        if not defaults.has(kind):
            return {}
        self._check_defaults_of(kind, defaults[kind])
        left_out = {name for name in defaults[kind].keys() if not question.has(name)}  # noqa: SIM118
        return {name: defaults[kind][name].value for name in left_out}

    def check_defaults(self, defaults: Node) -> None:
        """Raise `BadInput` where defaults by question are none of this game's fields, or cannot be read."""
        for kind in defaults.object().keys():  # noqa: SIM118 - a Node is no dict
            if kind not in self.questions:
                known = ", ".join(sorted(self.questions))
                hint = did_you_mean(kind, self.questions)
                defaults[kind].fail(f"{self.title} has no such question; it has: {known}{hint}")
            self._check_defaults_of(kind, defaults[kind])

    def _check_defaults_of(self, kind: str, values: Node) -> None:
        fields = {field.name: field for field in self.questions[kind].fields}
        for name in values.object().keys():  # noqa: SIM118 - a Node is no dict
            if name not in fields:
                known = ", ".join(fields)
                hint = did_you_mean(name, fields)
                values[name].fail(f"{kind!r} has no such field; it has: {known}{hint}")
            check_type(values[name], fields[name].type)

    def check(self, scene: Scene) -> None:
        """Raise `BadInput` where a scene's state cannot be read, or chooses what this game leaves not open."""
        _check_state(scene)
        settings = _read_settings(scene)
        for name in settings.keys():  # noqa: SIM118 - a Node is no dict
            if name not in self.settings:
                known = ", ".join(self.settings) or "none"
                settings[name].fail(f"{self.title} has no such setting; it has: {known}")
            self.settings[name].read(settings[name])


def _check_state(scene: Scene) -> None:
    """Raise `BadInput` where a part of a scene's `state` that every game reads is wrong."""
    state = Node(scene.state, "scene", "state")
    state.get("unit", lambda unit: unit.choice(UNITS), None)
    _ = scene.zones  # read once, however many questions follow
    defaults = state.get("defaults", Node.object, None)
    for kind in defaults.keys() if defaults else ():
        state["defaults"][kind].object()


def _read_settings(scene: Scene) -> Node:
    return Node(scene.state.get("settings", {}), "scene", "state.settings").object()


def ruler_of(scene: Scene) -> Ruler:
    """The ruler that the scene's game is measured with; `BadInput` where the scene must bring it."""
    ruler = scene.range_ruler
    return ruler or Node(None, "scene", "ruler").fail(f"is missing: {NO_RULER}")


# --- what every game answers ---


def answer_distance(scene: Scene, question: Node) -> Verdict:
    """How far apart two pieces, units or terrains are."""
    measure = between(scene, question)
    uncertainty = distance_uncertainty(scene, measure, ())
    sigma_mm = uncertainty.sigma_mm if uncertainty else 0.0
    length = format_length(measure.distance_mm, SIGMAS_95 * sigma_mm, scene.unit)
    closest = ("any.closest_piece",) if len(measure.pairs) > 1 else ()
    return replace(
        verdict_on(question, measure, sigma_mm),
        headline="in contact" if measure.closest.touches else length,
        rules=("any.edge_to_edge", *closest),
    )


def answer_area(scene: Scene, question: Node) -> Verdict:
    """The ground near a piece, unit or terrain, and which other pieces lie in it."""
    from overruler.rules.areas import answer  # few questions need it

    return answer.answer_area(scene, question)


def answer_hexes(scene: Scene, question: Node) -> Verdict:
    """How many hexes one piece is from another, and the terrain in the hexes between."""
    from overruler.rules.hexes import answer  # few tables have hexes

    return answer.answer_hexes(scene, question)


COMMON: Mapping[str, Question] = {
    "distance": Question(answer_distance),
    "area": Question(answer_area, AREA_FIELDS, more=AREA_SHAPE, is_area=True),
    "hexes": Question(answer_hexes, is_area=True),
}
"""The questions that every game answers."""
COMMON_TAPS = (
    Tap("distance", "Distance"),
    Tap("area", "Ground", reach_in=6, only=("of", "within_in")),
    Tap("area", "Hidden", only=("hidden_from",)),
)
"""What taps ask in every game: of two pieces, or of the first alone."""
