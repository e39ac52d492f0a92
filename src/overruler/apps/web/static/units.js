// Units: a loop drawn round some bases makes them one.

import { button, choice, complain, hint, labelled, refill, row, said, text, title } from "./forms.js";
import { profile } from "./profile.js";
import { make } from "./svg.js";

const GONE = "These bases are no longer there: they were removed or named meanwhile.";

export class Units {
  constructor(table) {
    Object.assign(this, { table, chosen: new Set() });
  }

  get stage() {
    return this.table.stage;
  }

  enter() {
    this.chosen.clear();
    this.stage.drag = { begin: (at) => this.#begin(at), move: (at) => this.#move(at), end: () => this.#end() };
    this.#draw();
    this.#panel();
  }

  leave() {
    this.stage.drag = null;
    this.stage.hand.replaceChildren();
  }

  tapped(piece) {
    if (piece) this.#toggle(piece.id);
  }

  // One of the list of bases.
  listed(piece) {
    this.#toggle(piece.id);
  }

  has(id) {
    return this.chosen.has(id);
  }

  #toggle(id) {
    if (!this.chosen.delete(id)) this.chosen.add(id);
    this.#draw();
    this.#panel();
  }

  // --- the loop ---

  #begin(at) {
    this.loop = [at];
    return true;
  }

  #move(at) {
    this.loop.push(at);
    this.#draw();
  }

  #end() {
    const [loop, tap] = [this.loop, this.loop.length < 4];
    this.loop = null;
    if (tap) {
      const piece = this.table.nearest(loop[0]);
      return piece ? this.#toggle(piece.id) : undefined;
    }
    for (const piece of this.table.found.pieces) if (piece.center_px && inside(piece.center_px, loop)) this.chosen.add(piece.id);
    this.#draw();
    this.#panel();
  }

  #draw() {
    const loop = this.loop ? [make("path", { d: `M${this.loop.map((place) => place.join(" ")).join("L")}Z`, class: "lassoed" })] : [];
    this.stage.hand.replaceChildren(...loop);
    for (const base of this.stage.bases.children) base.classList.toggle("on", this.chosen.has(base.dataset.id));
  }

  // --- the panel ---

  #panel() {
    this.#drop();
    const panel = document.getElementById("editing");
    refill(panel, ...(this.chosen.size ? this.#ofSome() : this.#ofNone()), (this.complaint = said("")));
    this.complaint.hidden = true;
  }

  #ofNone() {
    const fields = this.#fields;
    const marked = this.table.found.pieces.filter(({ stats }) => stats && JSON.stringify(turned(fields, stats)) !== JSON.stringify(stats));
    const turn = button("New turn", () => {
      this.chosen = new Set(marked.map((piece) => piece.id));
      return this.#put((id) => ({ do: "name", id, stats: turned(fields, this.#of(id).stats) }));
    });
    return [title("Make a unit"), hint("Draw a loop round its bases, or tap them. Two fingers move the photo."), ...(marked.length ? [row(turn)] : [])];
  }

  #ofSome() {
    const ids = [...this.chosen];
    const first = this.table.found.pieces.find((piece) => piece.id === ids[0]);
    const [name, player] = [text(first.unit || "", { placeholder: "Guards" }), text(first.player || "", { placeholder: "Blue" })];
    const leader = choice([["", "nobody"], ...ids.map((id) => [id, this.#of(id).name])], ids.find((id) => this.#of(id).leader) || ids[0]);
    return [
      title(ids.length === 1 ? "1 base" : `${ids.length} bases`),
      row(labelled("Unit", name), labelled("Player", player)),
      row(labelled("Leader", leader)), // a name is longer than a third of a line
      row(button("Save", () => this.#save(name.value.trim(), player.value.trim(), leader.value), "main"), ...this.#more(ids), button("Let go", () => this.enter())),
    ];
  }

  // Somebody else may have removed or named a base that was chosen; whether it was so.
  #drop() {
    const gone = [...this.chosen].filter((id) => !this.#of(id));
    for (const id of gone) this.chosen.delete(id);
    return gone.length > 0;
  }

  // Games whose questions rest on more than places ask for it here.
  #more(ids) {
    const fields = this.#fields;
    const shown = () => [...profile(fields, this.#of(ids[0]).stats, ids.map((id) => this.#of(id).name), (made) => this.#put((id) => ({ do: "name", id, stats: made(this.#of(id).stats) })), () => this.#panel()), this.complaint];
    return fields.length ? [button("Profile", () => refill(document.getElementById("editing"), ...shown()))] : [];
  }

  get #fields() {
    const { known, found } = this.table;
    return known.games.find((one) => one.name === found.game)?.profile || [];
  }

  #of(id) {
    return this.table.found.pieces.find((piece) => piece.id === id);
  }

  async #save(unit, player, leader) {
    if (!unit && !player) return this.complain("Give the unit a name, or say whose it is.");
    await this.#put((id) => ({ do: "name", id, ...(unit ? { unit, leader: id === leader } : {}), ...(player ? { player } : {}) }));
  }

  async #put(named) {
    const chosen = [...this.chosen];
    try {
      await this.table.corrected((fixes) => [...fixes, ...this.#still(chosen).map(named)]);
      if (this.#isAt(chosen)) this.enter();
    } catch (error) {
      if (this.table.mode === "units" && this.#drop()) this.#panel();
      this.table.complain(error.message);
    }
  }

  // Whether somebody still looks at these bases: the answer may come when other ones are chosen, or something else is done.
  #isAt(ids) {
    return this.table.mode === "units" && ids.length === this.chosen.size && ids.every((id) => this.chosen.has(id));
  }

  // Those of some bases that are there once it is their turn.
  #still(ids) {
    const there = ids.filter((id) => this.#of(id));
    if (!there.length) throw new Error(GONE);
    return there;
  }

  complain(words) {
    complain(this.complaint, words);
  }
}

// The marks of a base when a turn begins: some end, some say what was so in the turn before.
function turned(fields, stats) {
  const next = { ...stats };
  for (const { key, turn } of fields) if (turn !== undefined && (stats[key] || stats[turn])) next[key] = Boolean(stats[turn]);
  return next;
}

// Whether a place lies inside a loop: a ray from it crosses the loop an odd number of times.
function inside([x, y], loop) {
  let odd = false;
  loop.forEach(([ax, ay], i) => {
    const [bx, by] = loop[(i + 1) % loop.length];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
  });
  return odd;
}
