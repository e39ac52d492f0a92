// The pieces on the desk's picture: each can be clicked, reached by Tab, and dragged where that corrects it.
import { Labels, node } from "/static/control_labels.js";

const REACH_PX = 22, A_DRAG_PX = 4;

export class Pieces {
  constructor(svg, desk) {
    Object.assign(this, { svg, desk, drag: null, labels: new Labels(svg) });
    svg.addEventListener("placed", () => this.draw());
    svg.addEventListener("pointerdown", (event) => this.#down(event));
    svg.addEventListener("pointermove", (event) => this.#move(event));
    svg.addEventListener("pointerup", (event) => this.#up(event));
    svg.addEventListener("pointercancel", () => { this.drag = null; this.draw(); });
  }

  // A place of the page in the camera's pixels, counted as the drawing counts them: from the picture's upper left corner.
  place(event) {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [x, y];
  }

  // How many of the camera's pixels one of the screen's shows.
  scale() {
    return 1 / this.svg.getScreenCTM().a;
  }

  // --- mouse and touch ---

  #down(event) {
    const id = this.#nearest(event);
    this.drag = { id, from: this.place(event), to: this.place(event), screen: [event.clientX, event.clientY], far: false };
    this.svg.setPointerCapture(event.pointerId);
  }

  // The piece whose middle is nearest to a pointer, among those within its reach.
  #nearest(event) {
    const [x, y] = this.place(event), reach = REACH_PX * this.scale();
    let best = null, least = Infinity;
    for (const { id, d, center_px: at } of this.desk.now?.pieces ?? []) {
      if (!d) continue;
      const far = Math.hypot(at[0] - x, at[1] - y), box = this.#group(id)?.querySelector("path").getBBox();
      if (far < least && far <= Math.max(reach, box ? Math.max(box.width, box.height) / 2 : 0)) [best, least] = [id, far];
    }
    return best;
  }

  #move(event) {
    if (!this.drag) { this.labels.near(this.#nearest(event)); return; }
    const { screen } = this.drag;
    this.drag.to = this.place(event);
    this.drag.far ||= Math.hypot(event.clientX - screen[0], event.clientY - screen[1]) > A_DRAG_PX;
    if (this.drag.far && this.desk.mode === "correct") this.draw();
  }

  #up(event) {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    const { mode, modes } = this.desk;
    if (!drag.far && drag.id) { this.#group(drag.id)?.focus(); this.desk.picked(drag.id); }
    else if (mode === "correct") modes.correct[drag.id && drag.far ? "dragged" : "placed"](drag.id, this.#shifted(drag.id, this.place(event), drag.from));
    this.draw();
  }

  #shifted(id, to, from) {
    const center = id ? this.desk.piece(id).center_px : from;
    return [center[0] + to[0] - from[0], center[1] + to[1] - from[1]];
  }

  #group(id) {
    return [...this.svg.children].find((one) => one.dataset.id === id);
  }

  // --- drawing ---

  draw() {
    const state = this.desk.now;
    if (!state) return;
    this.svg.setAttribute("viewBox", `0 0 ${state.size_px.join(" ")}`);
    const there = new Map([...this.svg.querySelectorAll(".piece")].map((group) => [group.dataset.id, group]));
    for (const piece of state.pieces.filter((one) => one.d)) {
      this.#show(there.get(piece.id) || this.#made(piece), piece, state);
      there.delete(piece.id);
    }
    for (const group of there.values()) group.remove();
    this.labels.draw(state, (piece) => this.#isChosen(piece, state));
    this.#hand();
  }

  #isChosen(piece, state) {
    const pair = state.pair || [], own = this.desk.modes?.[this.desk.mode];
    const shown = [this.desk.first, ...pair, ...state.bands, ...state.arcs, ...state.grounds, ...state.shadows];
    return Boolean(own ? own.has(piece.id) : shown.includes(piece.id) || (piece.unit && pair.includes(piece.unit)));
  }

  #made(piece) {
    const group = node("g", { class: "piece", tabindex: 0, role: "button", "data-id": piece.id }, this.svg);
    for (const name of ["circle", "path"]) node(name, {}, group);
    group.addEventListener("focus", () => this.labels.near(piece.id));
    group.addEventListener("blur", () => this.labels.near(null));
    group.addEventListener("keydown", (event) => this.#key(event, piece.id));
    return group;
  }

  #key(event, id) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { desk } = this;
    const key = event.key.toLowerCase(); // with Caps Lock too
    if (key === "enter" || key === " ") desk.picked(id);
    else if (key === "b") desk.act("bands", { piece: id });
    else if (key === "a") desk.act("arcs", { piece: id });
    else if (!(desk.mode === "correct" && desk.modes.correct.key(event, id))) return;
    event.preventDefault();
  }

  #show(group, piece, state) {
    const [x, y] = piece.center_px;
    group.dataset.state = piece.state;
    group.setAttribute("aria-pressed", this.#isChosen(piece, state));
    group.toggleAttribute("data-doubted", Boolean(piece.doubt));
    group.setAttribute("aria-label", [piece.label, piece.base, piece.player, piece.state, piece.doubt && "may be none"].filter(Boolean).join(", "));
    const [circle, path] = group.children;
    path.setAttribute("d", piece.d);
    path.style.stroke = piece.state === "static" && group.ariaPressed !== "true" ? piece.colour ?? "" : "";
    for (const [key, value] of [["cx", x], ["cy", y], ["r", REACH_PX * this.scale()]]) circle.setAttribute(key, value);
  }

  // The ghost of what is being dragged, or the place chosen.
  #hand() {
    this.svg.querySelector(".hand")?.remove();
    const { mode, modes } = this.desk;
    if (mode !== "correct") return;
    const dragged = this.drag?.far && this.drag.id && this.desk.piece(this.drag.id);
    const ghost = dragged ? { id: dragged.id, to: this.#shifted(dragged.id, this.drag.to, this.drag.from) } : modes.correct.ghost();
    if (!ghost) return;
    const group = node("g", { class: "hand" }, this.svg), piece = ghost.id && this.desk.piece(ghost.id);
    if (piece?.d) node("path", { d: piece.d, transform: `translate(${ghost.to[0] - piece.center_px[0]} ${ghost.to[1] - piece.center_px[1]})` }, group);
    node("path", { d: `M${ghost.to[0] - 14} ${ghost.to[1]}h28M${ghost.to[0]} ${ghost.to[1] - 14}v28` }, group);
  }
}
