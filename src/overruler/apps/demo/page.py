"""The demo's page: one file with all pictures in it, to open in any browser, with no request to anywhere."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path

from overruler.apps.demo.steps import Step
from overruler.picture.raster import font_face_css

TEMPLATE = Path(__file__).with_name("page.html")


def render_page(steps: Sequence[Step]) -> str:
    """The page's text."""
    parts = "\n".join(_section(number, step) for number, step in enumerate(steps, 1))
    return (
        TEMPLATE.read_text(encoding="utf-8")
        .replace("{{font}}", font_face_css())
        .replace("{{steps}}", parts)
    )


def _section(number: int, step: Step) -> str:
    title, text = escape(step.title), escape(step.text)
    address = "data:image/jpeg;base64," + b64encode(step.data).decode()
    return (
        f'<section id="step-{number}"><h2><span>{number}</span>{title}</h2><p>{text}</p>'
        f'<figure><img src="{address}" alt="{title}" loading="lazy"></figure></section>'
    )
