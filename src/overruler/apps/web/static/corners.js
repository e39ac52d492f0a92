// No markers: the mat's four corners, dragged to where they are in the photo, and the mat's size.

import { button, choice, element, hint, labelled, number, row, said, title } from "./forms.js";
import { held } from "./kept.js";
import { Loupe, handle } from "./loupe.js";
import { make } from "./svg.js";

const FOOT = 304.8;
const SIZES = [["6 × 3 ft", 6, 3], ["4 × 4 ft", 4, 4], ["3 × 3 ft", 3, 3], ["6 × 4 ft", 6, 4], ["2 × 2 ft", 2, 2]];
const NAMES = ["far left", "far right", "near right", "near left"];

export class Corners {
  // `source` is the photo; `measure(points)` has it measured with `u,v=x,y;...`.
  // `mat` is the size in mm of the table that was chosen, if one was. Under `key` the browser holds what was shown.
  constructor(stage, source, why, measure, mat, key = "") {
    Object.assign(this, { stage, source, why, measure, key, moved: false, isOpen: false });
    this.mat = mat || [SIZES[0][1] * FOOT, SIZES[0][2] * FOOT];
    Object.assign(this, key && held(`corners.${key}`));
  }

  // Whoever goes back finds the corners again where they were.
  #hold() {
    this.moved = true;
    if (this.key) held(`corners.${this.key}`, { places: this.places, mat: this.mat });
  }

  async open() {
    const size = this.stage.size;
    this.loupe = new Loupe(this.stage, this.source);
    this.places ??= [[0.15, 0.2], [0.85, 0.2], [0.92, 0.85], [0.08, 0.85]].map(([x, y]) => [x * size[0], y * size[1]]);
    this.stage.drag = { begin: (at, event) => this.#begin(at, event), move: (at, event) => this.#move(at, event), end: () => this.#end() };
    this.isOpen = true;
    this.#panel();
    this.stage.room.bottom = () => document.getElementById("sheet").offsetHeight; // another one once a phone is turned
    this.stage.fit();
    this.#draw();
  }

  close() {
    this.isOpen = false;
    this.stage.drag = null;
    this.stage.hand.replaceChildren();
    this.loupe.hide();
    document.getElementById("editing").hidden = true;
    this.stage.room.bottom = null;
  }

  #draw() {
    const outline = `M${this.places.map((place) => place.join(" ")).join("L")}Z`;
    this.stage.hand.replaceChildren(make("path", { d: outline, class: "lassoed" }), ...this.places.map((place, i) => handle(place, String(i + 1))));
    this.stage.steady();
  }

  // The corner nearest to the finger follows it, however far off the finger took it.
  #begin(at, event) {
    const away = this.places.map((place) => Math.hypot(place[0] - at[0], place[1] - at[1]));
    this.taken = away.indexOf(Math.min(...away));
    if (away[this.taken] * this.stage.scale > 44) return false;
    this.shift = [this.places[this.taken][0] - at[0], this.places[this.taken][1] - at[1]];
    this.loupe.show(this.places[this.taken], event);
    return true;
  }

  #move(at, event) {
    this.places[this.taken] = [at[0] + this.shift[0], at[1] + this.shift[1]];
    this.loupe.show(this.places[this.taken], event);
    this.#draw();
  }

  #end() {
    this.loupe.hide();
    this.#hold();
  }

  #panel() {
    const [wide, high] = this.mat.map((value) => number(Number(value.toFixed(1))));
    const same = ([, ...feet]) => feet.every((value, i) => Math.abs(value * FOOT - this.mat[i]) < 0.5);
    const usual = choice([...SIZES.map(([name]) => [name, name]), ["", "another size"]], SIZES.find(same)?.[0] || "");
    usual.onchange = () => {
      const size = SIZES.find(([name]) => name === usual.value);
      if (size) [wide.value, high.value] = [size[1] * FOOT, size[2] * FOOT];
      typed();
    };
    const typed = () => {
      this.mat = [wide, high].map((input, i) => Number(input.value) || this.mat[i]);
      this.#hold();
    };
    for (const input of [wide, high]) input.oninput = () => { usual.value = ""; typed(); };
    const complaint = said("");
    const go = button("Measure", () => this.#measure(Number(wide.value), Number(high.value), complaint), "main");
    const keys = this.#keys();
    const panel = document.getElementById("editing");
    panel.hidden = false;
    panel.replaceChildren(
      title("Show the mat's corners"),
      hint(`${this.why ? `${this.why[0].toUpperCase()}${this.why.slice(1)}. ` : ""}Drag each number on to a corner of the mat: 1 ${NAMES[0]}, 2 ${NAMES[1]}, 3 ${NAMES[2]}, 4 ${NAMES[3]}.`),
      row(labelled("Mat", usual), labelled("Wide, mm", wide), labelled("Deep, mm", high)),
      keys,
      complaint,
      row(go),
    );
  }

  // The same with a keyboard: a corner is chosen, and the arrows move it.
  #keys() {
    const buttons = NAMES.map((name, i) => {
      const one = button(String(i + 1), () => {});
      one.setAttribute("aria-label", `Corner ${i + 1}, ${name}: move with the arrow keys`);
      one.onkeydown = (event) => this.#nudge(i, event);
      return one;
    });
    return element("div", { className: "row" }, ...buttons);
  }

  #nudge(corner, event) {
    const place = this.stage.nudged(this.places[corner], event);
    if (!place) return;
    event.preventDefault();
    this.places[corner] = place;
    this.#draw();
    this.#hold();
  }

  async #measure(wide, high, complaint) {
    if (!(wide > 0 && high > 0)) return void (complaint.textContent = "Say how wide and how deep the mat is.");
    const board = [[0, high], [wide, high], [wide, 0], [0, 0]];
    // the drawing counts from the photo's upper left corner, a place in the photo from the middle of its first pixel
    const points = this.places.map(([u, v], i) => `${(u - 0.5).toFixed(2)},${(v - 0.5).toFixed(2)}=${board[i].join(",")}`).join(";");
    this.mat = [wide, high];
    try {
      this.close();
      await this.measure(points);
    } catch (error) {
      await this.open();
      document.querySelector("#editing .said").textContent = error.message;
    }
  }
}
