// The gap from near: a piece of the photo that shows it largest, with the measured line in it.

import * as api from "./api.js";
import { cased, make } from "./svg.js";

const FILLS = 0.56; // of the window's width and height: the line from end to end
const LEAST_TIMES = 1.3; // a line that is no larger here than on the photo needs no window
const SHARPEST = 8;

export class CloseUp {
  constructor(root) {
    this.root = root;
    this.photo = root.querySelector("img");
    this.drawing = root.querySelector("svg");
  }

  hide() {
    this.told = null;
    this.root.hidden = true;
  }

  // `told` is the ruling's `close_up`; `least` the scale at which the whole photo is seen.
  show(id, photos, told, look, least) {
    if (!told?.ends_px) return this.hide();
    this.told = told;
    const { number, size_px: size } = photos[told.photo];
    const [[x, y], [u, v]] = told.ends_px;
    this.root.hidden = false;
    const { width, height } = this.root.getBoundingClientRect();
    const scale = Math.min((FILLS * width) / Math.max(Math.abs(u - x), 4), (FILLS * height) / Math.max(Math.abs(v - y), 4), SHARPEST);
    if (scale < LEAST_TIMES * least) return void (this.root.hidden = true);
    const corner = [(x + u) / 2 - width / 2 / scale, (y + v) / 2 - height / 2 / scale];
    const source = api.photo(id, "full", number);
    if (this.source !== source) this.photo.src = this.source = source;
    [this.photo.width, this.photo.height] = size;
    this.photo.style.transform = `translate(${-corner[0] * scale}px,${-corner[1] * scale}px) scale(${scale})`;
    this.drawing.setAttribute("viewBox", `${corner[0]} ${corner[1]} ${width / scale} ${height / scale}`);
    const bases = told.outlines.map((d) => cased(d, "base"));
    this.drawing.replaceChildren(...bases, ...ticks(told.ends_px, 9 / scale), cased(told.line, "line thin", look));
    const where = photos.length > 1 ? `, on photo ${told.photo + 1}` : "";
    this.root.setAttribute("aria-label", `The gap from near${where}: look closer`);
  }
}

// A short stroke across each end of the line, where the measure begins and ends.
function ticks([[x, y], [u, v]], half) {
  const long = Math.hypot(u - x, v - y) || 1;
  const [dx, dy] = [(-(v - y) / long) * half, ((u - x) / long) * half];
  const d = [[x, y], [u, v]].map(([a, b]) => `M${a - dx} ${b - dy}L${a + dx} ${b + dy}`).join("");
  return [make("path", { d, class: "out", "stroke-width": 5 }), make("path", { d, class: "mid", "stroke-width": 2.4 })];
}
