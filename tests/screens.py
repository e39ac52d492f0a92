"""What is looked for on every page: what lies over something else, small letters, small targets, barriers."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

LEAST_TARGET_PX = 44
"""Least side of what a finger hits, in CSS pixels."""
LEAST_LETTERS_PX = 12
"""Least font size, in CSS pixels."""
IS_SHOWN = "one.checkVisibility({ visibilityProperty: true })"
BOXES = f"""(selector) => [...document.querySelectorAll(selector)].filter((one) => {IS_SHOWN})
  .map((one) => one.getBoundingClientRect())
  .map(({{ left, top, right, bottom }}) => [left, top, right, bottom])
  .filter(([left, top, right, bottom]) => right > left && bottom > top)"""
LETTERS = f"""() => {{
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), small = [];
  while (walk.nextNode()) {{
    const one = walk.currentNode.parentElement, words = walk.currentNode.textContent.trim();
    if (!words || one.closest("script, style, title, option, [role=img]") || !{IS_SHOWN}) continue;
    const size = parseFloat(getComputedStyle(one).fontSize) * (one.getScreenCTM?.()?.a ?? 1);
    if (size < {LEAST_LETTERS_PX} - 0.05) small.push(`${{words.slice(0, 30)}}: ${{size.toFixed(1)}}`);
  }}
  return small;
}}"""
CONTROLS = "button, select, input, a[href], summary, [role=button]"
TARGETS = f"""() => [...document.querySelectorAll("{CONTROLS}")].filter((one) => {IS_SHOWN})
  .map((one) => [(one.closest("label") ?? one).getBoundingClientRect(), one])
  .filter(([box]) => Math.min(box.width, box.height) < {LEAST_TARGET_PX} - 0.05)
  .map(([box, one]) => `${{one.outerHTML.slice(0, 60)}}: ${{box.width}} x ${{box.height}}`)"""


def boxes(page: "Page", selector: str) -> Any:
    """The boxes (N, 4) on the screen of all that is visible: left, top, right, bottom."""
    return np.array(page.evaluate(BOXES, selector), float).reshape(-1, 4)


def overlaps(one: Any, other: Any, slack_px: float = 0.75) -> list[tuple[int, int]]:
    """The pairs of boxes (N, 4) and (M, 4) that lie over each other."""
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    found = np.argwhere((high - low > slack_px).all(-1))
    return [(int(i), int(j)) for i, j in found if one is not other or i < j]


def small_letters(page: "Page") -> list[str]:
    """The words that are smaller than `LEAST_LETTERS_PX`."""
    found: list[str] = page.evaluate(LETTERS)
    return found


def small_targets(page: "Page") -> list[str]:
    """The controls that are smaller than `LEAST_TARGET_PX`; a label is part of its control."""
    found: list[str] = page.evaluate(TARGETS)
    return found


def barriers(page: "Page", *left_out: str) -> list[str]:
    """What axe-core finds wrong with a page, without the rules `left_out`."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core looks")
    rules = {name: {"enabled": False} for name in left_out}
    response = axe.Axe().run(page, options={"rules": rules}).response
    return [
        f"{found['id']}: {node['html'][:120]} {node.get('failureSummary', '')[:160]}"
        for found in response["violations"]
        for node in found["nodes"]
    ]


def complaints(page: "Page") -> list[str]:
    """A list that whatever the browser complains of will be added to."""
    found: list[str] = []
    page.on("console", lambda line: found.append(f"{line.type}: {line.text}"))
    page.on("pageerror", lambda error: found.append(str(error)))
    return found
