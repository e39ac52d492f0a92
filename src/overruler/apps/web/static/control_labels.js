// Labels beside the pieces: the server places them, so that none hides a base or another label.

import { enlarged } from "/static/svg.js";

const SVG = "http://www.w3.org/2000/svg";
const RETRY_MS = 2000;

export class Labels {
  constructor(svg) {
    Object.assign(this, { svg, tags: new Map(), asked: "", placed: { letters_px: 0, labels: {} } });
    this.layer = node("g", { "aria-hidden": "true" }, svg);
    this.lines = node("g", { class: "leaders" }, this.layer);
  }

  draw(state, chosen) {
    this.#ask(state);
    const { letters_px: letters, labels } = this.placed, there = new Set(this.tags.keys());
    for (const piece of letters ? state.pieces.filter((one) => one.d) : []) {
      there.delete(piece.id);
      this.#show(this.tags.get(piece.id) ?? this.#made(piece.id), piece, labels[piece.id], letters, chosen(piece));
    }
    for (const id of there) { this.tags.get(id).leader.remove(); this.tags.get(id).remove(); this.tags.delete(id); }
    if (this.svg.lastElementChild !== this.layer) this.svg.append(this.layer);
  }

  // Ask for the labels' places whenever the table, a name or the picture's size on the screen has changed.
  async #ask(state) {
    // As if the picture were shown so much smaller as the browser's letters are larger: then the labels' are, too.
    const width = Math.min(Math.max(Math.round(this.svg.getBoundingClientRect().width / enlarged()), 16), 3840);
    const wanted = JSON.stringify([width, state.pieces.map((one) => [one.id, one.short, one.center_px])]);
    if (wanted === this.asked) return;
    this.asked = wanted;
    const answer = await fetch(`/api/live/labels?width=${width}`).catch(() => null);
    if (!answer?.ok) { setTimeout(() => { this.asked = ""; }, RETRY_MS); return; }
    this.placed = await answer.json();
    this.svg.dispatchEvent(new Event("placed"));
  }

  // A crowded piece tells its name while somebody points at it.
  near(id) {
    for (const [own, tag] of this.tags) tag.toggleAttribute("data-near", own === id);
  }

  #made(id) {
    const tag = node("g", { class: "tag", "data-tag": id }, this.layer);
    tag.leader = node("line", {}, this.lines);
    for (const name of ["rect", "text"]) node(name, {}, tag);
    this.tags.set(id, tag);
    return tag;
  }

  #show(tag, piece, free, letters, isChosen) {
    const [cx, cy] = piece.center_px;
    const key = JSON.stringify([piece.short, letters, free, cx, cy]);
    tag.toggleAttribute("data-chosen", isChosen);
    if (tag.dataset.key === key) return;
    tag.dataset.key = key;
    tag.toggleAttribute("data-crowded", !free);
    const [x, y] = free ?? [cx, cy - 2.2 * letters], [plate, words] = tag.children;
    words.textContent = piece.short;
    words.style.fontSize = `${letters}px`;
    set(words, { x, y: y + 0.36 * letters });
    const wide = (words.getComputedTextLength() || piece.short.length * 0.6 * letters) + 0.5 * letters;
    set(plate, { x: x - wide / 2, y: y - 0.65 * letters, width: wide, height: 1.3 * letters, rx: 0.35 * letters });
    plate.style.stroke = piece.colour ?? "";
    const [sx, sy] = free?.slice(2) ?? [];
    set(tag.leader, sx === undefined ? { x1: x, y1: y, x2: x, y2: y } : { x1: sx, y1: sy, x2: x, y2: y });
  }
}

function set(found, told) {
  for (const [key, value] of Object.entries(told)) found.setAttribute(key, value);
}

export function node(name, told, parent) {
  const made = document.createElementNS(SVG, name);
  set(made, told);
  parent.append(made);
  return made;
}
