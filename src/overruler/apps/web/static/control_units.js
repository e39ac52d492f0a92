// Units and players: pieces are chosen one after another and given a name that all of them share.
import { button, choice, hint, labelled, row, text, title } from "/static/forms.js";

export class Units {
  constructor(desk) {
    Object.assign(this, { desk, chosen: new Set() });
  }

  enter() {
    this.chosen.clear();
    this.#panel();
  }

  leave() {
    this.chosen.clear();
  }

  has(id) {
    return this.chosen.has(id);
  }

  picked(id) {
    if (!this.chosen.delete(id)) this.chosen.add(id);
    this.#panel();
  }

  #panel() {
    document.getElementById("editing").replaceChildren(...(this.chosen.size ? this.#form() : []));
  }

  #form() {
    const ids = [...this.chosen], first = this.desk.piece(ids[0]) || {};
    const [unit, player] = [text(first.unit || "", { placeholder: "Guards" }), text(first.player || "", { placeholder: "Blue" })];
    const leader = choice(ids.map((id) => [id, id]), ids.find((id) => this.desk.piece(id)?.leader) || ids[0]);
    const save = button("Save", () => this.#save(unit.value.trim(), player.value.trim(), leader.value));
    return [title(ids.join(", ")), row(labelled("Unit", unit), labelled("Player", player), labelled("Leader", leader), save), hint("The leader is whom an attack is measured from.")];
  }

  async #save(unit, player, leader) {
    if (!unit && !player) return;
    const named = (id) => ({ do: "name", id, ...(unit ? { unit, leader: id === leader } : {}), ...(player ? { player } : {}) });
    if (await this.desk.fix(...[...this.chosen].map(named))) this.enter();
    this.desk.pieces.draw();
  }
}
