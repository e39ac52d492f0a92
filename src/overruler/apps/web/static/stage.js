// The photo under its drawing: pan, pinch, wheel, keys, and taps told in the photo's own pixels.

import { enlarged, make } from "./svg.js";
import { Taps } from "./taps.js";

const TAP_PX = 9;
const CLOSEST = 12;
const STEP_PX = 8;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const SHEET_SHARE = 0.48; // as in app.css
const BESIDE = matchMedia("(min-width: 560px) and (orientation: landscape)"); // as in app.css

export class Stage {
  constructor(root) {
    this.root = root;
    this.picture = root.querySelector("#picture");
    this.drawing = root.querySelector("#drawing");
    this.size = [1, 1];
    this.room = { top: 70, bottom: null };
    this.pointers = new Map();
    this.taps = new Taps();
    this.onTap = () => {};
    this.drag = null; // while set, one finger belongs to it: { begin(at) -> bool, move(at), end(at) }
    for (const name of ["shades", "bands", "bases", "line", "marks", "hand"]) this[name] = this.drawing.appendChild(make("g", { class: name }));
    root.addEventListener("pointerdown", (event) => this.#down(event));
    root.addEventListener("pointermove", (event) => this.#moved(event));
    for (const name of ["pointerup", "pointercancel"]) root.addEventListener(name, (event) => this.#up(event));
    root.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    new ResizeObserver(() => this.#resized()).observe(root);
  }

  // The picture's size in the units of the drawing, and where it comes from.
  show(source, size) {
    this.size = size;
    this.picture.src = source;
    this.picture.width = size[0];
    this.picture.height = size[1];
    this.fit();
  }

  // Have a picture ready, so that it is seen as soon as it is shown.
  async load(source) {
    this.ready = new Image(); // held, else the browser may let it go before it is shown
    this.ready.src = source;
    await this.ready.decode().catch(() => {});
  }

  // A sharper picture in place of the one shown, once it has come.
  sharpen(source) {
    if (this.sharp === source) return;
    this.sharp = source;
    const better = new Image();
    better.onload = () => this.sharp === source && (this.picture.src = source);
    better.src = source;
  }

  pan(x, y) {
    this.x += x;
    this.y += y;
    this.place();
  }

  #resized() {
    const box = this.root.getBoundingClientRect();
    if (!this.box || Math.abs(box.width - this.box.width) > 1 || Math.abs(box.height - this.box.height) > 1) {
      this.box = box;
      this.fit();
    }
  }

  // What the sheet covers of the photo: as much as it may ever cover, so that nothing jumps under a finger.
  get covered() {
    if (BESIDE.matches) return 0;
    return this.room.bottom?.() ?? SHEET_SHARE * this.box.height;
  }

  // What of it no button and no sheet covers.
  get free() {
    return { left: 4, top: this.room.top - 2, right: this.box.width - (this.room.right || 0) - 4, bottom: this.box.height - this.covered - 4 };
  }

  // The place of the photo in the middle of what is free.
  get middle() {
    const { left, top, right, bottom } = this.free;
    return [((left + right) / 2 - this.x) / this.scale, ((top + bottom) / 2 - this.y) / this.scale];
  }

  // Where an arrow key moves a place of the photo, with Shift less far; nowhere by another key.
  nudged(place, { key, shiftKey }) {
    const step = (shiftKey ? 1 : STEP_PX) / this.scale;
    return ARROWS[key] && place.map((value, axis) => value + ARROWS[key][axis] * step);
  }

  fit() {
    const box = (this.box = this.root.getBoundingClientRect());
    const high = Math.max(120, box.height - this.room.top - this.covered);
    this.least = Math.min(box.width / this.size[0], high / this.size[1]) || 1;
    this.scale = this.least;
    this.x = (box.width - this.size[0] * this.scale) / 2;
    this.y = this.room.top + (high - this.size[1] * this.scale) / 2;
    this.place();
  }

  // Bring places of the photo into view, no closer than needed to see them well.
  look(points, margin = 90) {
    const [xs, ys] = [points.map((point) => point[0]), points.map((point) => point[1])];
    const wide = Math.max(...xs) - Math.min(...xs) + 1;
    const high = Math.max(...ys) - Math.min(...ys) + 1;
    const free = this.box.height - this.room.top - this.covered;
    const fitting = Math.min((this.box.width - 2 * margin) / wide, (free - margin) / high);
    this.scale = Math.min(Math.max(this.least, fitting), this.least * 6);
    this.x = this.box.width / 2 - this.scale * (Math.min(...xs) + wide / 2);
    this.y = this.room.top + free / 2 - this.scale * (Math.min(...ys) + high / 2);
    this.place();
  }

  // Bring a piece into view, large enough for a finger.
  near({ center_px: place, reach_px: reach }) {
    if (!place) return;
    const [x, y] = place;
    const wanted = 44 / Math.max(reach, 1);
    if (this.scale < wanted) this.scale = Math.min(wanted, CLOSEST);
    this.x = this.box.width / 2 - this.scale * x;
    this.y = (this.room.top + this.box.height - this.covered - 60) / 2 - this.scale * y;
    this.place();
  }

  zoom(times, [cx, cy] = [this.box.width / 2, this.box.height / 2]) {
    const scale = Math.min(Math.max(this.scale * times, this.least * 0.8), Math.max(CLOSEST, this.least * 4));
    const share = scale / this.scale;
    [this.x, this.y, this.scale] = [cx - share * (cx - this.x), cy - share * (cy - this.y), scale];
    this.place();
  }

  place() {
    this.#hold();
    const { width, height } = this.box;
    this.picture.style.transform = `translate(${this.x}px,${this.y}px) scale(${this.scale})`;
    const corner = [-this.x / this.scale, -this.y / this.scale];
    this.drawing.setAttribute("viewBox", `${corner[0]} ${corner[1]} ${width / this.scale} ${height / this.scale}`);
    this.steady();
    this.onPlace?.();
  }

  // Words and handles keep their size on the screen, which is that of the page's letters.
  steady() {
    const size = enlarged() / this.scale;
    for (const one of this.drawing.querySelectorAll("[data-at]"))
      one.setAttribute("transform", `translate(${one.dataset.at}) scale(${size})`);
  }

  #hold() {
    const [wide, high] = [this.size[0] * this.scale, this.size[1] * this.scale];
    const keep = 80;
    this.x = Math.min(Math.max(this.x, keep - wide), this.box.width - keep);
    this.y = Math.min(Math.max(this.y, keep - high), this.box.height - keep);
  }

  at(event) {
    return [(event.clientX - this.box.left - this.x) / this.scale, (event.clientY - this.box.top - this.y) / this.scale];
  }

  #down(event) {
    if (event.button) return;
    this.root.setPointerCapture?.(event.pointerId);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.moved = this.pointers.size > 1 ? Infinity : 0;
    if (this.pointers.size === 1) this.dragging = Boolean(this.drag?.begin(this.at(event), event));
    else this.#dropped(event);
  }

  #dropped(event) {
    if (this.dragging) this.drag?.end(this.at(event), event);
    this.dragging = false;
  }

  #moved(event) {
    const was = this.pointers.get(event.pointerId);
    if (!was) return;
    const now = [event.clientX, event.clientY];
    this.moved += Math.hypot(now[0] - was[0], now[1] - was[1]);
    if (this.dragging) this.drag?.move(this.at(event), event);
    else if (this.pointers.size === 2) this.#pinched(event.pointerId, was, now);
    else if (this.moved > TAP_PX) {
      this.x += now[0] - was[0];
      this.y += now[1] - was[1];
      this.place();
    }
    this.pointers.set(event.pointerId, now);
  }

  #pinched(id, was, now) {
    const [, other] = [...this.pointers].find(([name]) => name !== id);
    const before = Math.hypot(was[0] - other[0], was[1] - other[1]);
    const after = Math.hypot(now[0] - other[0], now[1] - other[1]);
    this.x += (now[0] - was[0]) / 2;
    this.y += (now[1] - was[1]) / 2;
    this.zoom(after / Math.max(before, 1), [(now[0] + other[0]) / 2 - this.box.left, (now[1] + other[1]) / 2 - this.box.top]);
  }

  #up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    const tapped = event.type === "pointerup" && this.pointers.size === 0 && this.moved <= TAP_PX;
    if (this.dragging) this.#dropped(event);
    else if (tapped) this.#tapped(event);
  }

  // The photo may have been moved by the first tap of two: under the second lies something else by now.
  #tapped(event) {
    const [again, seen] = [this.taps.again(event), this.drawing.getAttribute("viewBox")];
    if (!again || seen === this.seen) this.onTap(this.at(event), event);
    this.seen = seen;
  }

  #wheel(event) {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), [event.clientX - this.box.left, event.clientY - this.box.top]);
  }
}

// The piece whose base is meant by a tap: a finger's width round its middle counts as it, however small it looks.
export function nearest(pieces, [x, y], scale, finger = 24) {
  const found = [];
  for (const piece of pieces) {
    if (!piece.center_px) continue; // another photo shows it
    const away = Math.hypot(piece.center_px[0] - x, piece.center_px[1] - y);
    if (away <= Math.max(piece.reach_px, finger / scale)) found.push([Math.max(0, away - piece.reach_px), away, piece]);
  }
  return found.sort((a, b) => a[0] - b[0] || a[1] - b[1])[0]?.[2] ?? null;
}
