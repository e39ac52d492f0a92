"""What viewers read: the ruling on its plate, names at the bases, the scoreboard, the caption."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from overruler.apps.web.live.look import Look, PlayerLook
from overruler.apps.web.live.show import Show
from overruler.picture.banner import SAFE_SHARE
from overruler.picture.drawable_ruling import DrawableRuling
from overruler.picture.painters import draw_icon
from overruler.picture.svg import element, group, text_line
from overruler.picture.text_layout import fit_text, text_width

NAME_SIZE = 15.0
"""Font size of names above a ruling, in units of the view: 19 px at 720p."""
ANSWER_SIZE = 27.0
"""Font size of a ruling's answer, in units of the view."""
DETAIL_SIZE = 14.5
"""Font size of the words under it, in units of the view."""
TAG_SIZE = 13.0
"""Font size of a name at a base, in units of the view."""
BOARD_SIZE = 17.0
"""Font size of the scoreboard, in units of the view."""
PADDING = 14.0
"""Space between a plate's edge and its words, in units of the view."""
ICON_RADIUS = 22.0
"""Radius of the icon of an answer, in units of the view."""
CHIP_WIDTH = 6.0
"""Width of the bar in a player's colour, in units of the view."""
LOGO_HEIGHT = 54.0
"""Height of the show's logo, in units of the view."""
WIDEST_SHARE = 0.5
"""Widest plate, as a share of the picture."""

Size = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Canvas:
    """A picture that is drawn on."""

    size_px: tuple[int, int]

    @property
    def unit(self) -> float:
        """A thousandth of its longer side, in px."""
        return max(self.size_px) / 1000


@dataclass(frozen=True, slots=True)
class Dress:
    """The look of everything at one moment."""

    look: Look = field(default_factory=Look)
    players: Mapping[str, PlayerLook] = field(default_factory=dict)
    """Each player's name, colour and logo."""

    @property
    def names(self) -> dict[str, str]:
        """The name that is shown of each player."""
        return {player: look.name for player, look in self.players.items()}

    def colour_of(self, player: str | None) -> str:
        """A player's colour; the edge's for a piece of nobody."""
        look = self.players.get(player or "")
        return look.colour if look else self.look.edge

    def plate(self, size: Size, unit: float) -> str:
        """An empty plate of a size."""
        box = {"width": size[0], "height": size[1], "rx": self.look.corner * unit}
        edge = {"stroke": self.look.edge, "stroke_opacity": 0.35, "stroke_width": 0.9 * unit}
        fill = {"fill": self.look.plate, "fill_opacity": self.look.plate_opacity}
        return element("rect", **box, **fill, **edge, class_="plate")


@dataclass(frozen=True, slots=True)
class Plate:
    """A drawing with its size, its upper left corner at (0, 0)."""

    parts: tuple[str, ...]
    size: Size

    def at(self, left: float, top: float, **attributes: str) -> str:
        """The drawing at a place."""
        place = f"translate({left:.2f} {top:.2f})"
        return group(self.parts, transform=place, **attributes)


def _fitted(text: str, size: float, room: float) -> tuple[str, float, float]:
    """A text cut to a room, its font size and its width."""
    shown, shown_size = fit_text(text, size, room)
    return shown, shown_size, text_width(shown) * shown_size


# --- the ruling ---


def ruling_plate(
    canvas: Canvas, ruling: DrawableRuling, names: Sequence[str], dress: Dress
) -> Plate:
    """A ruling in words: who is measured, the answer, and how sure it is."""
    unit = canvas.unit * dress.look.size
    left = (2 * PADDING + 2 * ICON_RADIUS) * unit
    room = WIDEST_SHARE * canvas.size_px[0] * max(dress.look.size, 1.0) - left - PADDING * unit
    lines: list[str] = []
    foot, wide = PADDING * unit, 0.0
    if any(names):
        titles = [name.upper() if len(name) < 4 else name for name in names]
        row, row_width = _name_row(ruling, titles, dress, unit, room, (left, foot))
        lines.append(row)
        foot, wide = foot + 1.5 * NAME_SIZE * unit, row_width
    answer, size, width = _fitted(_sentence_case(ruling.answer), ANSWER_SIZE * unit, room)
    foot += 0.95 * size
    lines.append(text_line(answer, left, foot, size, "start", dress.look.ink))
    wide = max(wide, width)
    foot += 0.3 * size
    if ruling.detail:
        detail, size, width = _fitted(ruling.detail, DETAIL_SIZE * unit, room)
        foot += size
        lines.append(text_line(detail, left, foot, size, "start", dress.look.soft))
        wide, foot = max(wide, width), foot + 0.3 * size
    high = foot + 0.75 * PADDING * unit
    icon = draw_icon(ruling.style, (PADDING + ICON_RADIUS) * unit, high / 2, ICON_RADIUS * unit)
    plate_size = (left + wide + 1.5 * PADDING * unit, high)
    return Plate((dress.plate(plate_size, unit), icon, *lines), plate_size)


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def _name_row(
    ruling: DrawableRuling,
    names: Sequence[str],
    dress: Dress,
    unit: float,
    room: float,
    corner: tuple[float, float],
) -> tuple[str, float]:
    """The two names with their players' colours and an arrow between, and the row's width."""
    size = NAME_SIZE * unit
    x, y = corner
    gap = 0.5 * size
    arrow_width = text_width("→") * size
    each = (room - arrow_width - 2 * gap) / 2 - (CHIP_WIDTH * unit + gap)
    parts = []
    for number, (name, piece) in enumerate(zip(names, ruling.pieces, strict=True)):
        if number:
            parts.append(text_line("→", x, y + size, size, "start", dress.look.soft))
            x += arrow_width + gap
        chip = {"x": x, "y": y + 0.12 * size, "width": CHIP_WIDTH * unit, "height": 1.05 * size}
        parts.append(element("rect", **chip, rx=1.5 * unit, fill=dress.colour_of(piece.player)))
        x += CHIP_WIDTH * unit + gap
        text, text_size, width = _fitted(name, size, each)
        parts.append(text_line(text, x, y + size, text_size, "start", dress.look.ink))
        x += width + gap
    return group(parts), x - gap - corner[0]


def name_tag(canvas: Canvas, text: str, colour: str, dress: Dress) -> Plate:
    """A piece's name on a plate with its player's colour."""
    unit = canvas.unit * dress.look.size
    size = TAG_SIZE * unit
    wide, high = text_width(text) * size + 1.7 * size, 1.6 * size
    look = replace(dress.look, corner=0.35 * TAG_SIZE)
    chip = {"x": 0.45 * size, "y": 0.3 * size, "width": 0.35 * size, "height": high - 0.6 * size}
    parts = (
        replace(dress, look=look).plate((wide, high), unit),
        element("rect", **chip, rx=0.12 * size, fill=colour),
        text_line(text, 1.1 * size, 1.14 * size, size, "start", dress.look.ink),
    )
    return Plate(parts, (wide, high))


# --- the show ---


def draw_show(canvas: Canvas, show: Show, dress: Dress, is_replay: bool = False) -> str:
    """The scoreboard, the caption, the logo and the word that a replay is shown."""
    parts = []
    board = _scoreboard(canvas, show, dress)
    width, height = canvas.size_px
    if board is not None:
        left = (width - board.size[0]) / 2
        parts.append(board.at(left, SAFE_SHARE * height, id="scoreboard"))
    if show.caption[0]:
        caption = _caption(canvas, show, dress)
        foot = height * (1 - SAFE_SHARE) - caption.size[1]
        parts.append(caption.at(width * (1 - SAFE_SHARE) - caption.size[0], foot, id="caption"))
    if dress.look.logo:
        parts.append(_corner_logo(canvas, dress))
    if is_replay:
        badge = _badge(canvas, "Replay", dress)
        parts.append(badge.at(SAFE_SHARE * width, SAFE_SHARE * height, id="badge"))
    return group(parts) if parts else ""


def _scoreboard(canvas: Canvas, show: Show, dress: Dress) -> Plate | None:
    """A cell for each player, and the round in the middle; None without either."""
    unit = canvas.unit * dress.look.size
    cells = [_score_cell(player, score, dress, unit) for player, score in show.scores.items()]
    if show.round:
        cells.insert((len(cells) + 1) // 2, _word_cell(show.round, dress.look.soft, unit))
    if not cells:
        return None
    parts, x = [], 0.0
    for cell in cells:
        parts.append(cell.at(x, 0.0))
        x += cell.size[0]
    size = (x, cells[0].size[1])
    return Plate((dress.plate(size, unit), *parts), size)


def _word_cell(text: str, colour: str, unit: float) -> Plate:
    size = BOARD_SIZE * unit
    wide = text_width(text) * size + 2 * PADDING * unit
    line = text_line(text, wide / 2, 1.62 * size, size, "middle", colour)
    return Plate((line,), (wide, 2.5 * size))


def _score_cell(player: str, score: str, dress: Dress, unit: float) -> Plate:
    """A player's logo, name and score over a bar in the player's colour."""
    size = BOARD_SIZE * unit
    look = dress.players.get(player, PlayerLook(player))
    x, high = PADDING * unit, 2.5 * size
    parts = []
    if look.logo:
        side = 1.7 * size
        parts.append(_picture(look.logo, (x, (high - side) / 2), (side, side)))
        x += side + 0.5 * size
    name, name_size, width = _fitted(look.name, size, 11 * size)
    parts.append(text_line(name, x, 1.62 * size, name_size, "start", dress.look.ink))
    x += width + 0.8 * size
    parts.append(text_line(score, x, 1.66 * size, 1.25 * size, "start", dress.look.ink))
    x += text_width(score) * 1.25 * size + PADDING * unit
    bar = {"x": 0.35 * size, "y": high - 0.34 * size, "width": x - 0.7 * size, "height": 0.2 * size}
    parts.append(element("rect", **bar, rx=0.1 * size, fill=dress.colour_of(player)))
    return Plate(tuple(parts), (x, high))


def _caption(canvas: Canvas, show: Show, dress: Dress) -> Plate:
    """The lower third: a title and a line under it."""
    unit = canvas.unit * dress.look.size
    title_size, line_size = 1.35 * BOARD_SIZE * unit, 0.9 * BOARD_SIZE * unit
    room = (WIDEST_SHARE - SAFE_SHARE) * canvas.size_px[0]
    title, title_size, wide = _fitted(show.caption[0], title_size, room)
    line, line_size, line_width = _fitted(show.caption[1], line_size, room)
    left, y = 1.8 * PADDING * unit, PADDING * unit + 0.9 * title_size
    parts = [text_line(title, left, y, title_size, "start", dress.look.ink)]
    if line:
        y += 1.55 * line_size
        parts.append(text_line(line, left, y, line_size, "start", dress.look.soft))
    size = (max(wide, line_width) + left + 1.5 * PADDING * unit, y + PADDING * unit)
    bar = {"x": 0.7 * PADDING * unit, "y": PADDING * unit, "width": 0.35 * PADDING * unit}
    chip = element("rect", **bar, height=size[1] - 2 * PADDING * unit, fill=dress.look.ink)
    return Plate((dress.plate(size, unit), chip, *parts), size)


def _badge(canvas: Canvas, text: str, dress: Dress) -> Plate:
    unit = canvas.unit * dress.look.size
    cell = _word_cell(text, dress.look.ink, unit)
    return Plate((dress.plate(cell.size, unit), *cell.parts), cell.size)


def _corner_logo(canvas: Canvas, dress: Dress) -> str:
    """The show's logo in the upper right corner."""
    corner, size = _logo_box(canvas, dress)
    return _picture(dress.look.logo, corner, size, "xMaxYMin meet")


def _logo_box(canvas: Canvas, dress: Dress) -> tuple[Size, Size]:
    """The upper left corner of the logo's box, and its size."""
    width, height = canvas.size_px
    side = LOGO_HEIGHT * canvas.unit * dress.look.size
    return (width * (1 - SAFE_SHARE) - 2 * side, SAFE_SHARE * height), (2 * side, side)


def _picture(address: str, corner: Size, size: Size, fit: str = "xMidYMid meet") -> str:
    box = {"x": corner[0], "y": corner[1], "width": size[0], "height": size[1]}
    return element("image", href=address, **box, preserveAspectRatio=fit)


def show_boxes(canvas: Canvas, show: Show, dress: Dress) -> list[tuple[np.ndarray, np.ndarray]]:
    """The centres and sizes of what the show occupies, which a ruling keeps off."""
    width, height = canvas.size_px
    boxes = []
    board = _scoreboard(canvas, show, dress)
    if board is not None:
        size = np.array(board.size)
        boxes.append((np.array([width / 2, SAFE_SHARE * height + size[1] / 2]), size))
    if show.caption[0]:
        size = np.array(_caption(canvas, show, dress).size)
        boxes.append((np.array([width, height]) * (1 - SAFE_SHARE) - size / 2, size))
    if dress.look.logo:
        corner, size = map(np.array, _logo_box(canvas, dress))
        boxes.append((corner + size / 2, size))
    return boxes
