// Corrections: a base is dragged, resized, turned, removed or added; the photo then says where exactly it stands.

import * as api from "./api.js";
import { doubted } from "./list.js";
import { button, choice, complain, hint, labelled, refill, row, said, text, title } from "./forms.js";
import { Loupe, handle } from "./loupe.js";
import { cased } from "./svg.js";

const BY_HAND = "The photo shows no such base here: your place counts, and no ruling from it is certain. ";
const GONE = "This base is no longer there: it was removed meanwhile.";
const KEYS = matchMedia("(hover: hover) and (pointer: fine)").matches ? " The arrow keys move it too, with Shift less far." : "";
const AHEAD = { colour: "#f07c00", dash: [] };

export class Correct {
  constructor(table) {
    Object.assign(this, { table, names: new Map() });
    // A pressed button takes no focus from a name: telling it would fill the panel anew under the pointer, and no click would come.
    document.getElementById("editing").onmousedown = (event) => { if (event.target.closest("button")) event.preventDefault(); };
  }

  get stage() {
    return this.table.stage;
  }

  enter() {
    this.loupe = new Loupe(this.stage, api.photo(this.table.id, "full", this.table.photos.number));
    this.stage.drag = { begin: (at, event) => this.#begin(at, event), move: (at, event) => this.#move(at, event), end: () => this.#end() };
    this.#choose(null);
  }

  leave() {
    this.stage.drag = null;
    this.stage.hand.replaceChildren();
    this.loupe.hide();
  }

  tapped(piece, at) {
    if (piece) this.#choose(piece, piece.center_px);
    else this.#choose(null, at);
  }

  // One of the list of bases.
  listed(piece) {
    this.#choose(piece, piece.center_px);
    document.querySelector("#editing .next").focus();
  }

  has(id) {
    return this.piece?.id === id;
  }

  // The arrow keys move the ring, once there is one, and Escape lets it go; whether they did.
  key(event) {
    if (event.key === "Escape") return Boolean(this.place) && (this.#choose(null), true);
    const place = this.place && this.stage.nudged(this.place, event);
    if (!place) return false;
    this.place = place;
    if (this.piece) this.measure.hidden = false;
    this.#draw();
    return true;
  }

  // A piece to correct, or an empty place to put one.
  #choose(piece, place = null) {
    Object.assign(this, { piece, place });
    for (const base of this.stage.bases.children) base.classList.toggle("on", this.has(base.dataset.id));
    if (piece) this.stage.near(piece);
    this.#draw();
    this.#panel();
  }

  #draw() {
    const ahead = this.piece?.ahead_px && `M${this.piece.center_px.join(" ")}L${this.piece.ahead_px.join(" ")}`;
    this.stage.hand.replaceChildren(...(ahead ? [cased(ahead, "line", AHEAD)] : []), ...(this.place ? [handle(this.place)] : []));
    this.stage.steady();
  }

  // --- dragging ---

  #begin(at, event) {
    if (!this.place || Math.hypot(at[0] - this.place[0], at[1] - this.place[1]) * this.stage.scale > 34) return false;
    this.shift = [this.place[0] - at[0], this.place[1] - at[1]];
    this.from = this.place;
    this.#move(at, event);
    return true;
  }

  #move(at, event) {
    this.place = [at[0] + this.shift[0], at[1] + this.shift[1]];
    const shift = this.piece ? [this.place[0] - this.piece.center_px[0], this.place[1] - this.piece.center_px[1]] : [0, 0];
    this.loupe.show(this.place, event, this.piece?.d, shift);
    this.#draw();
  }

  #end() {
    this.loupe.hide();
    const far = Math.hypot(this.place[0] - this.from[0], this.place[1] - this.from[1]) * this.stage.scale;
    if (this.piece && far > 2) this.#measure();
  }

  #measure() {
    return this.#send({ do: "move", id: this.piece.id, ...this.#there() });
  }

  // Where the ring is, in the photo that is shown.
  #there() {
    const photo = this.table.photos.shown;
    return { xy_px: this.#pixel(), ...(photo ? { photo } : {}) };
  }

  // The drawing counts from the photo's upper left corner, a place in the photo from the middle of its first pixel.
  #pixel() {
    return this.place.map((value) => Math.round(100 * (value - 0.5)) / 100);
  }

  // --- the panel ---

  #panel() {
    const panel = document.getElementById("editing");
    refill(panel, ...(this.piece ? this.#ofPiece() : this.place ? this.#ofPlace() : this.#ofNone()), (this.complaint = said("")));
    this.complaint.hidden = true;
  }

  #ofNone() {
    const undo = button("Undo the last", () => this.table.undo());
    undo.disabled = !this.table.found.fixes.length;
    return [title("Correct a base"), hint("Tap a base to move, resize or remove it; tap an empty place to add one."), row(button("Add a base", () => this.#choose(null, this.stage.middle)), undo)];
  }

  #ofPiece() {
    const piece = this.piece;
    const done = () => {
      name.onchange();
      this.#choose(null);
    };
    const sizes = this.#sizes(piece.base);
    sizes.onchange = () => this.#send({ do: "resize", id: piece.id, base: sizes.value });
    const name = (this.name = text(piece.name === piece.id ? piece.id : "", { placeholder: piece.name }));
    let before = name.value;
    name.onchange = name.onblur = () => {
      const words = name.value.trim();
      if (!words || words === before) return;
      before = words;
      this.#send({ do: "name", id: piece.id, new_id: words });
    };
    name.onkeydown = ({ key }) => { if (key === "Enter") name.onchange(); }; // to return false would keep every other key from being typed
    this.measure = Object.assign(button("Measure here", () => this.#measure(), "main"), { hidden: true });
    const round = piece.base.shape === "circle";
    const turns = round ? [] : [button("Turn 90°", () => this.#send({ do: "turn", id: piece.id, heading_deg: (piece.heading_deg + 90) % 360 }))];
    const confirms = piece.doubt?.probability !== undefined ? [button("It is a piece", () => this.#send({ do: "confirm", id: piece.id }))] : [];
    const fronts = piece.heading_modulo_deg ? [button("Front is right", () => this.#send({ do: "turn", id: piece.id, heading_deg: piece.heading_deg }))] : [];
    return [
      title(`${piece.name}${doubted(piece)}`),
      hint(`${piece.doubt?.by_hand ? BY_HAND : ""}Drag the ring to the middle of the base: it is measured again from there.${KEYS}${round ? "" : " The line points ahead."}`),
      row(labelled("Name", name), labelled("Size", sizes)),
      row(this.measure, ...confirms, ...turns, ...fronts, button("Remove", () => this.#send({ do: "remove", id: piece.id }))),
      row(button("Done", done)),
    ];
  }

  #ofPlace() {
    const sizes = this.#sizes(this.table.found.pieces[0]?.base);
    const add = () => this.#send({ do: "add", base: sizes.value, ...this.#there() });
    return [
      title("Add a base here"),
      hint(`Drag the ring to the middle of the base.${KEYS}`),
      row(labelled("Size", sizes), button("Add", add, "main"), button("Cancel", () => this.#choose(null))),
    ];
  }

  #sizes(now) {
    const known = this.table.found.bases;
    const all = now && !known.some((base) => base.name === now.name) ? [now, ...known] : known;
    return choice(all.map((base) => [base.name, base.name]), now?.name);
  }

  // --- telling the server ---

  async #send(fix) {
    const { place } = this;
    let complaint = "";
    try {
      await this.table.corrected((fixes) => [...fixes, fix.id ? { ...fix, id: this.#still(fix.id) } : fix]);
      if (fix.new_id) this.names.set(fix.id, fix.new_id);
      if (fix.do === "add" && this.place === place) this.place = null;
    } catch (error) {
      complaint = error.message;
    }
    if (this.table.mode === "correct") this.#anew(complaint, fix.new_id);
    else if (complaint) this.table.complain(complaint);
  }

  // What is chosen by now, as the table has it now. A name that is being typed stays, unless it is the one that was told.
  #anew(complaint, told) {
    const typed = document.activeElement === this.name && this.name.value.trim() !== told ? this.name.value : null;
    if (this.name) this.name.onchange = this.name.onblur = null; // it names nothing by being taken away
    const id = this.piece && this.#called(this.piece.id);
    const piece = this.table.found.pieces.find((one) => one.id === id) || null;
    this.#choose(piece, this.piece ? piece?.center_px : this.place);
    if (piece && typed !== null) {
      this.name.value = typed;
      this.name.focus();
    }
    if (complaint) this.complain(complaint);
  }

  complain(words) {
    complain(this.complaint, words);
  }

  // The piece that a correction is about, once its turn has come.
  #still(id) {
    const now = this.#called(id);
    if (!this.table.found.pieces.some((one) => one.id === now)) throw new Error(GONE);
    return now;
  }

  // A piece may have been given a name since.
  #called(id) {
    return this.table.found.pieces.some((one) => one.id === id) ? id : this.names.get(id) ?? id;
  }
}
