// A round magnifier beside the finger: what the finger hides, with a cross on the very place.

import { make } from "./svg.js";

const SIDE = 148;
const TIMES = 3;

export class Loupe {
  constructor(stage, source) {
    this.stage = stage;
    this.root = stage.root.querySelector("#loupe");
    this.photo = this.root.querySelector("img");
    this.drawing = this.root.querySelector("svg");
    this.photo.src = source;
    [this.photo.width, this.photo.height] = stage.size;
  }

  // Show a place of the photo, and the outline (path data) that would be there.
  show([x, y], event, outline = "", shift = [0, 0]) {
    const scale = Math.max(this.stage.scale * TIMES, 0.6);
    const half = SIDE / 2;
    this.root.hidden = false;
    this.photo.style.transform = `translate(${half - x * scale}px,${half - y * scale}px) scale(${scale})`;
    const reach = half / scale;
    this.drawing.setAttribute("viewBox", `${x - reach} ${y - reach} ${2 * reach} ${2 * reach}`);
    const cross = `M${x - reach} ${y}H${x - reach / 6}M${x + reach / 6} ${y}H${x + reach}M${x} ${y - reach}V${y - reach / 6}M${x} ${y + reach / 6}V${y + reach}`;
    const moved = { transform: `translate(${shift[0]} ${shift[1]})` };
    const lines = [
      make("path", { d: outline, ...moved, class: "out", "stroke-width": 3.5 }),
      make("path", { d: outline, ...moved, class: "mid", "stroke-width": 1.7 }),
      make("path", { d: cross, class: "out", "stroke-width": 2.6 }),
      make("path", { d: cross, class: "mid", "stroke-width": 1.1 }),
    ];
    this.drawing.replaceChildren(...lines);
    this.#beside(event);
  }

  #beside(event) {
    const box = this.stage.box;
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const left = Math.min(Math.max(x - SIDE / 2, 6), box.width - SIDE - 6);
    const above = y - SIDE - 46;
    this.root.style.left = `${above < 6 && Math.abs(left + SIDE / 2 - x) < SIDE / 2 ? (x > box.width / 2 ? 6 : box.width - SIDE - 6) : left}px`;
    this.root.style.top = `${Math.max(above, 6)}px`;
  }

  hide() {
    this.root.hidden = true;
  }
}

// A handle that a finger can take, at a place of the photo.
export function handle([x, y], letter = "") {
  const words = make("text", {});
  words.textContent = letter;
  return make("g", { class: letter ? "handle pin" : "handle", "data-at": `${x} ${y}` }, make("circle", { r: 15 }), words);
}
