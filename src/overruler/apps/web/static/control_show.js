// The show beside the table: players' names, colours and scores, the round, a caption.
import { Field } from "/static/control_field.js";
import { button, element, labelled, row, text, title } from "/static/forms.js";

const EMPTY = { players: [], scores: {}, round: "", caption: ["", ""] };

export class ShowPanel {
  constructor(desk) {
    Object.assign(this, { desk, rows: new Map() });
  }

  enter() {
    this.rows.clear();
    document.getElementById("editing").replaceChildren(...this.#form());
    this.told();
  }

  leave() {}

  has() {
    return false;
  }

  picked() {}

  // Other desks and a Stream Deck tell of the show too: the form follows them, but takes nothing from who types.
  told() {
    const show = this.desk.now?.show ?? EMPTY;
    for (const one of show.players) {
      const fields = this.rows.get(one.player) ?? this.#added(one.player);
      fields.name.follow(one.name);
      fields.colour.follow(one.colour);
      fields.score.follow(show.scores[one.player] ?? "");
    }
    for (const [player, fields] of this.rows) if (!show.players.some((one) => one.player === player)) this.#removed(player, fields);
    this.round.follow(show.round);
    if (show.caption[0]) this.caption.forEach((field, k) => field.follow(show.caption[k])); // one that is off may go on again
  }

  #form() {
    const round = (this.round = new Field(text("", { placeholder: "Round 2" })));
    const [head, line] = (this.caption = ["Anna Berg", "Caster"].map((placeholder) => new Field(text("", { placeholder, maxLength: 60 }))));
    const player = text("", { placeholder: "Blue" });
    const add = async () => {
      const name = player.value.trim();
      if (name && (await this.desk.act("score", { player: name, score: "0" }))) player.value = "";
    };
    const group = (...parts) => element("div", { className: "group" }, ...parts);
    this.last = row(labelled("Another player", player), button("Add", add));
    return [group(title("Players"), this.last), group(
      title("Scoreboard and caption"),
      row(labelled("Round", round.input), button("Set", () => this.desk.act("round", { text: round.sent() }))),
      row(labelled("Caption", head.input), labelled("Below", line.input)),
      row(button("Caption on air", () => this.desk.act("caption", { title: head.sent(), line: line.sent() })), button("Caption off", () => this.desk.act("caption"))),
    )];
  }

  #added(player) {
    const inputs = { name: text(""), colour: element("input", { type: "color" }), score: text("", { className: "small", inputMode: "numeric", maxLength: 12 }) };
    for (const [key, input] of Object.entries(inputs)) input.setAttribute("aria-label", `${player}: ${key}`);
    const [name, colour, score] = Object.values(inputs).map((input) => new Field(input, false));
    for (const [key, field] of Object.entries({ name, colour })) field.input.addEventListener("change", () => this.desk.act("player", { player, [key]: field.sent() }));
    const put = () => score.held(this.desk.act("score", { player, score: score.sent() }), () => this.told());
    score.input.addEventListener("change", put);
    const step = (by) => {
      score.input.value = (Number(score.input.value) || 0) + by;
      return put();
    };
    const less = button("−", () => void step(-1)), more = button("+", () => void step(1));
    less.setAttribute("aria-label", `${player}: a point less`);
    more.setAttribute("aria-label", `${player}: a point more`);
    const shown = row(name.input, colour.input, less, score.input, more);
    shown.classList.add("score");
    this.last.before(shown);
    const fields = { name, colour, score, shown };
    this.rows.set(player, fields);
    return fields;
  }

  #removed(player, { shown }) {
    if (shown.contains(document.activeElement)) return; // somebody may be about to give a score again
    shown.remove();
    this.rows.delete(player);
  }
}
