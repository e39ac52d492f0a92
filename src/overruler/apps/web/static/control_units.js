// Names, units and players: pieces are chosen one after another and given what all of them share.
import { Field } from "/static/control_field.js";
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

  // Other desks name pieces too, and remove them: the form follows them, but takes nothing from who types.
  told() {
    const gone = [...this.chosen].filter((id) => !this.desk.piece(id));
    for (const id of gone) this.chosen.delete(id);
    if (!this.chosen.size) return void (gone.length && this.#panel());
    const ids = [...this.chosen], first = this.desk.piece(ids[0]), { unit, player, leader } = this.fields;
    if (gone.length) {
      this.head.textContent = ids.join(", ");
      for (const option of [...leader.input.options]) if (!this.chosen.has(option.value)) option.remove();
    }
    unit.follow(first.unit || "");
    player.follow(first.player || "");
    leader.follow(this.#leader(ids));
  }

  #leader(ids) {
    return ids.find((id) => this.desk.piece(id)?.leader) || ids[0];
  }

  #panel() {
    refill(document.getElementById("editing"), ...(this.chosen.size ? this.#form() : []));
  }

  #form() {
    const ids = [...this.chosen], first = this.desk.piece(ids[0]) || {};
    const [unit, player] = [text(first.unit || "", { placeholder: "Guards" }), text(first.player || "", { placeholder: "Blue" })];
    const name = text("", { placeholder: ids[0] });
    const leader = choice(ids.map((id) => [id, id]), this.#leader(ids));
    const follows = { unit, player, leader };
    this.fields = Object.fromEntries(Object.entries(follows).map(([key, input]) => [key, new Field(input)]));
    this.head = title(ids.join(", "));
    const save = button("Save", () => this.#save({ unit: unit.value.trim(), player: player.value.trim(), leader: leader.value, name: name.value.trim() }));
    const own = ids.length === 1 ? labelled("Name", name) : labelled("Leader", leader);
    return [this.head, row(labelled("Unit", unit), labelled("Player", player), own, save), hint("Viewers see the name, else the unit, else the player. The leader is whom an attack is measured from.")];
  }

  async #save({ unit, player, leader, name }) {
    if (!unit && !player && !name) return;
    const named = (id) => ({ do: "name", id, ...(unit ? { unit, leader: id === leader } : {}), ...(player ? { player } : {}), ...(name ? { new_id: name } : {}) });
    if (await this.desk.fix(...[...this.chosen].map(named))) this.enter();
    this.desk.pieces.draw();
  }
}
