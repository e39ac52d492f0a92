"""What is wrong with a page as it stands on the screen: overlaps, small letters, small targets."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

MIN_TEXT_PX = 12
"""Least size of letters."""
ENLARGED = 1.5
"""How much larger letters are set in the browser of `tests.chromium.large`."""
MIN_TARGET_PX = 44
"""Least width and height of what a finger taps."""

SETTLED_S = 10.0
"""How long a page may take to be laid out after a tap, in s, on a slow machine."""

SCRIPT = """([leastText, leastTarget]) => {
    const found = [];
    const named = (one) =>
        one.id || one.getAttribute("aria-label") || one.textContent.trim() || one.getAttribute("class");
    const seen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const open = document.querySelector("dialog[open]");
    const inside = (one) => !open || open.contains(one);
    const clip = (one) => {
        let { left, top, right, bottom } = one.getBoundingClientRect();
        for (let up = one.parentElement; up; up = up.parentElement) {
            if (getComputedStyle(up).overflow === "visible") continue;
            const box = up.getBoundingClientRect();
            [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
            [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
        }
        const bar = document.getElementById("modes");
        if (one.closest("#sheet") && !bar.contains(one) && seen(bar))
            bottom = Math.min(bottom, bar.getBoundingClientRect().top);
        return { left, top, right, bottom };
    };
    const boxed = (list) => list.filter(seen).filter(inside).map((one) => [one, clip(one)])
        .filter(([, box]) => box.right - box.left > 1 && box.bottom - box.top > 1);
    const targets = [...document.querySelectorAll("a, button, select, summary, label.button, input:not(.away)")];
    const drawn = [".plate rect", ".badge circle", ".pin circle", ".handle circle"].map((one) => `#drawing ${one}`);
    const labels = [...document.querySelectorAll(drawn.join(", "))];
    const all = boxed([...targets, ...labels]);
    all.forEach(([one, a], index) => {
        for (const [other, b] of all.slice(index + 1)) {
            if (one.contains(other) || other.contains(one)) continue;
            if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
                found.push(`${named(one.closest("g") || one)} lies over ${named(other.closest("g") || other)}`);
        }
    });
    for (const one of targets.filter(seen).filter(inside)) {
        const box = (one.type === "checkbox" ? one.closest("label") : one).getBoundingClientRect();
        if (Math.min(box.width, box.height) < leastTarget - 0.1)
            found.push(`${named(one)} is ${box.width} x ${box.height}`);
    }
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const one = walk.currentNode.parentElement;
        if (!walk.currentNode.data.trim() || !seen(one) || one.closest("option, .away")) continue;
        if (parseFloat(getComputedStyle(one).fontSize) < leastText) found.push(`${named(one)} is written too small`);
    }
    const gap = document.querySelector("#drawing .line path.core");
    if (gap) {
        const at = gap.getScreenCTM();
        const [plate] = boxed([...document.querySelectorAll("#drawing .plate rect")]);
        for (let share = 0; plate && share <= 1; share += 0.02) {
            const place = gap.getPointAtLength(share * gap.getTotalLength()).matrixTransform(at);
            const { left, right, top, bottom } = plate[1];
            if (place.x > left && place.x < right && place.y > top && place.y < bottom) {
                found.push("the pill covers the gap");
                break;
            }
        }
    }
    if (document.documentElement.scrollWidth > innerWidth) found.push("the page runs off the side");
    return found;
}"""
"""Finds every fault; a rectangle counts as far as it is in sight."""


def faults_of(page: "Page") -> list[str]:
    """The faults of a page, in words, once it is laid out."""
    return lasting(lambda: page.evaluate(SCRIPT, [MIN_TEXT_PX, MIN_TARGET_PX]))


def lasting(find: Callable[[], list[str]]) -> list[str]:
    """The faults that stay: those of a page that is still being laid out go by themselves."""
    end_s = time.monotonic() + SETTLED_S
    while (found := find()) and time.monotonic() < end_s:
        time.sleep(0.05)
    return found


SMALL = """(least) => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), small = [];
  while (walk.nextNode()) {
    const one = walk.currentNode.parentElement, words = walk.currentNode.textContent.trim();
    if (!words || one.closest("script, style, option, .away, #preview") || !one.checkVisibility()) continue;
    const size = parseFloat(getComputedStyle(one).fontSize) * (one.getScreenCTM?.()?.a ?? 1);
    if (size < least - 0.3) small.push(`${words.slice(0, 30)}: ${size}`);
  }
  return small;
}"""
"""Words that are smaller than they should be, on the screen."""
CUT = """() => {
  const cut = [];
  const wide = document.createElement("canvas").getContext("2d");
  for (const one of document.querySelectorAll("button, .button, a, label, p, h1, h2, summary, li, select")) {
    if (!one.checkVisibility() || one.matches(".away, .away *")) continue;
    const style = getComputedStyle(one), box = one.getBoundingClientRect();
    if (style.clipPath !== "none") continue;  // for screen readers alone
    if (one.matches("select")) {
      wide.font = style.font;
      const room = one.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      if (wide.measureText(one.selectedOptions[0]?.text ?? "").width > room - 16) cut.push(one.selectedOptions[0].text);
      continue;
    }
    const words = document.createRange();
    words.selectNodeContents(one);
    const held = words.getBoundingClientRect();
    const hidden = style.overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1;
    const aside = hidden || held.left < box.left - 1 || held.right > box.right + 1;
    const out = aside || held.top < box.top - 3 || held.bottom > box.bottom + 3;
    if (one.textContent.trim() && out) cut.push(`${one.outerHTML.slice(0, 70)} in ${box.width} x ${box.height}`);
  }
  return cut;
}"""
"""Controls and lines whose words run out of them."""


def faults_of_letters(page: "Page") -> list[str]:
    """The words that are too small where letters are set `ENLARGED`, and those that are cut off."""
    return lasting(
        lambda: [*page.evaluate(SMALL, MIN_TEXT_PX * ENLARGED), *page.evaluate(CUT)],
    )
