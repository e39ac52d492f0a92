"""The demo's page: one HTML file with all pictures in it, which loads nothing else."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path

from overruler.apps.demo.steps import Step
from overruler.picture.raster import font_face_css

TEMPLATE = Path(__file__).with_name("page.html")


def render_page(steps: Sequence[Step]) -> str:
    """Render the page as HTML."""
    sections = "\n".join(_section(number, step) for number, step in enumerate(steps, 1))
    template = TEMPLATE.read_text(encoding="utf-8")
    return template.replace("{{font}}", font_face_css()).replace("{{steps}}", sections)


def _section(number: int, step: Step) -> str:
    title, text = escape(step.title), escape(step.text)
    address = "data:image/jpeg;base64," + b64encode(step.data).decode()
    return (
        f'<section id="step-{number}"><h2><span>{number}</span>{title}</h2><p>{text}</p>'
        f'<figure><img src="{address}" alt="{title}" loading="lazy"></figure></section>'
    )
