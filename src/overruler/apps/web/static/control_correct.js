// Corrections on the desk: a piece is dragged or nudged, removed or added; the picture then says where exactly it stands.
import { button, hint, labelled, number, refill, row, text, title } from "/static/forms.js";
import { doubted } from "/static/list.js";

const HAND_PX = 2;
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Correct {
  constructor(desk) {
    Object.assign(this, { desk, id: null, place: null, said: null });
  }

  enter() {
    this.#choose(null, null);
  }

  leave() {
    Object.assign(this, { id: null, place: null });
  }

  has(id) {
    return id === this.id;
  }

  ghost() {
    return this.place && { id: this.id, to: this.place };
  }

  picked(id) {
    this.#choose(id, null);
  }

  placed(id, place) {
    this.#choose(null, place);
  }

  async dragged(id, place) {
    this.#choose(id, place);
    await this.#move();
  }

  // The table is measured on, and others correct it too: the panel says what is known now, but takes nothing from who types.
  told() {
    const said = this.#said();
    if (said && said !== this.said && !document.activeElement.matches("#editing input")) this.#choose(this.id, this.place);
  }

  // Arrows nudge a piece, with Shift ten times as far; M measures it there; Delete takes it away. Without a piece they
  // move the place of one that is added. Esc takes back a place that was not told yet.
  key(event, id) {
    if (event.key === "Escape") return Boolean(this.place) && (this.#choose(this.id, null), true);
    const step = STEPS[event.key], far = event.shiftKey ? 10 : 1;
    if (!id) return Boolean(step && this.place && !this.id) && this.#shift(step.map((way) => way * far));
    if (event.key === "Delete") this.#remove(id);
    else if (event.key.toLowerCase() === "m" && this.id === id && this.place) this.#move();
    else if (step) {
      const from = this.id === id && this.place ? this.place : this.desk.piece(id).center_px;
      this.#choose(id, [from[0] + step[0] * far, from[1] + step[1] * far]);
    } else return false;
    return true;
  }

  // The form stays as it is: a size may be typed in it.
  #shift(by) {
    this.place = this.place.map((value, axis) => Math.min(Math.max(value + by[axis], 0), this.desk.now.size_px[axis]));
    this.desk.pieces.draw();
    return true;
  }

  // --- telling the server ---

  // The drawing counts from the picture's upper left corner, a place in it from the middle of its first pixel. How
  // surely somebody points is a matter of the screen's pixels.
  #pointed() {
    const xy_px = this.place.map((value) => Math.round(100 * (value - 0.5)) / 100);
    return { xy_px, sigma_px: Math.max(2, HAND_PX * this.desk.pieces.scale()) };
  }

  async #move() {
    if (await this.desk.fix({ do: "move", id: this.id, ...this.#pointed() })) this.#choose(this.id, null);
  }

  async #remove(id) {
    if (await this.desk.fix({ do: "remove", id })) this.#choose(null, null);
  }

  async #add(base) {
    if (await this.desk.fix({ do: "add", base, ...this.#pointed() })) this.#choose(null, null);
  }

  // --- the panel ---

  // What the panel depends on.
  #said() {
    const piece = this.id && this.desk.piece(this.id);
    return piece && piece.base + doubted(piece);
  }

  #choose(id, place) {
    Object.assign(this, { id, place });
    this.said = this.#said();
    refill(document.getElementById("editing"), ...(id ? this.#ofPiece(id) : place ? this.#ofPlace() : this.#ofNone()));
    this.desk.pieces.draw();
  }

  #ofPiece(id) {
    const piece = this.desk.piece(id), size = text(piece.base, { size: 14 });
    const parts = [
      labelled("Base", row(size, button("Resize", () => this.desk.fix({ do: "resize", id, base: size.value })))),
      ...this.#turn(id, piece.heading_deg),
      ...(piece.doubt?.probability === undefined ? [] : [button("It is a piece", () => this.desk.fix({ do: "confirm", id }))]),
      button("Remove", () => this.#remove(id)),
    ];
    return [title(`${id} · ${piece.base}${doubted(piece)}`), row(...parts), hint("Drag it, or nudge it by arrow keys and press M: it is measured again from there.")];
  }

  // Only a base that is not round shows which way it points.
  #turn(id, heading) {
    if (heading === undefined) return [];
    const turn = number(heading, { min: "-360", max: "360", required: true });
    const turned = () => turn.reportValidity() && this.desk.fix({ do: "turn", id, heading_deg: Number(turn.value) });
    return [labelled("Ahead, degrees", row(turn, button("Turn", turned)))];
  }

  // Whoever has no mouse adds a base too: it begins in the middle of the picture.
  #ofNone() {
    const middle = () => this.desk.now?.size_px.map((side) => side / 2);
    return [row(button("Add a base", () => this.#choose(null, middle() ?? null)))];
  }

  #ofPlace() {
    const size = text("", { size: 8, placeholder: "27, 60x35o" });
    return [title("Add a base here"), hint("Click where it stands, or move the cross by the arrow keys (Shift: ten times as far)."), row(labelled("Base", size), button("Add", () => this.#add(size.value)), button("Cancel", () => this.#choose(null, null)))];
  }
}
