// Names, units and players: pieces are chosen one after another and given what all of them share.
import { button, choice, hint, labelled, refill, row, text, title } from "/static/forms.js";

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
    refill(document.getElementById("editing"), ...(this.chosen.size ? this.#form() : []));
  }

  #form() {
    const ids = [...this.chosen], first = this.desk.piece(ids[0]) || {};
    const [unit, player] = [text(first.unit || "", { placeholder: "Guards" }), text(first.player || "", { placeholder: "Blue" })];
    const name = text("", { placeholder: ids[0] });
    const leader = choice(ids.map((id) => [id, id]), ids.find((id) => this.desk.piece(id)?.leader) || ids[0]);
    const save = button("Save", () => this.#save({ unit: unit.value.trim(), player: player.value.trim(), leader: leader.value, name: name.value.trim() }));
    const own = ids.length === 1 ? labelled("Name", name) : labelled("Leader", leader);
    return [title(ids.join(", ")), row(labelled("Unit", unit), labelled("Player", player), own, save), hint("Viewers see the name, else the unit, else the player. The leader is whom an attack is measured from.")];
  }

  async #save({ unit, player, leader, name }) {
    if (!unit && !player && !name) return;
    const named = (id) => ({ do: "name", id, ...(unit ? { unit, leader: id === leader } : {}), ...(player ? { player } : {}), ...(name ? { new_id: name } : {}) });
    if (await this.desk.fix(...[...this.chosen].map(named))) this.enter();
    this.desk.pieces.draw();
  }
}
