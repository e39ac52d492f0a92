// The show beside the table: players' names, colours and scores, the round, a caption.
import { button, element, labelled, row, text, title } from "/static/forms.js";

export class ShowPanel {
  constructor(desk) {
    this.desk = desk;
  }

  enter() {
    document.getElementById("editing").replaceChildren(...this.#form());
  }

  leave() {}

  has() {
    return false;
  }

  picked() {}

  #form() {
    const { show } = this.desk.now ?? { show: { players: [], scores: {}, round: "", caption: ["", ""] } };
    const round = text(show.round, { placeholder: "Round 2" });
    const [head, line] = show.caption.map((value, k) => text(value, { placeholder: ["Anna Berg", "Caster"][k], maxLength: 60 }));
    const player = text("", { placeholder: "Blue" });
    const group = (...parts) => element("div", { className: "group" }, ...parts);
    return [group(
      title("Players"),
      ...show.players.map((one) => this.#player(one, show.scores[one.player] ?? "")),
      row(labelled("Another player", player), button("Add", async () => { if (player.value.trim() && await this.desk.act("score", { player: player.value.trim(), score: "0" })) this.#anew(); })),
    ), group(
      title("Scoreboard and caption"),
      row(labelled("Round", round), button("Set", () => this.desk.act("round", { text: round.value }))),
      row(labelled("Caption", head), labelled("Below", line)),
      row(button("Caption on air", () => this.desk.act("caption", { title: head.value, line: line.value })), button("Caption off", () => this.desk.act("caption"))),
    )];
  }

  #anew() {
    setTimeout(() => { if (this.desk.mode === "show") this.enter(); }, 120);
  }

  #player({ player, name, colour }, score) {
    const told = { name: text(name), colour: element("input", { type: "color", value: colour }), score: text(score, { className: "small", inputMode: "numeric", maxLength: 12 }) };
    const labels = { name: `${player}: name`, colour: `${player}: colour`, score: `${player}: score` };
    for (const [key, input] of Object.entries(told)) input.setAttribute("aria-label", labels[key]);
    const save = () => this.desk.act("player", { player, name: told.name.value, colour: told.colour.value });
    told.name.addEventListener("change", save);
    told.colour.addEventListener("change", save);
    told.score.addEventListener("change", () => this.desk.act("score", { player, score: told.score.value }));
    const step = (by) => { told.score.value = (Number(told.score.value) || 0) + by; told.score.dispatchEvent(new Event("change")); };
    const less = button("−", () => step(-1)), more = button("+", () => step(1));
    less.setAttribute("aria-label", `${player}: a point less`);
    more.setAttribute("aria-label", `${player}: a point more`);
    const found = row(told.name, told.colour, less, told.score, more);
    found.classList.add("score");
    return found;
  }
}
