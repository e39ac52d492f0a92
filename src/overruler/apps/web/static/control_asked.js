// What two picks ask: the game's questions, with an arc or a number of inches where one needs it.

const at = (id) => document.getElementById(id);

export class Asked {
  constructor(desk) {
    this.desk = desk;
    for (const id of ["question", "arc", "reach"]) at(id).addEventListener("change", () => this.#ask());
  }

  #ask() {
    const tap = this.#tap(at("question").value), told = { question: at("question").value };
    if (tap?.arcs) told.arc = at("arc").value || tap.arcs[0];
    if (tap?.reach_in) told.reach_in = at("reach").value || tap.reach_in;
    this.desk.act("ask", told);
  }

  #tap(label) {
    return this.desk.now?.questions.find((one) => one.label === label);
  }

  // The inches typed, which shaded ground goes by too.
  reach() {
    return at("reach").value ? { reach_in: at("reach").value } : {};
  }

  // `before` is said in place of questions while no table is measured.
  show({ questions, question }, before) {
    at("question").disabled = !questions.length;
    filled(at("question"), questions.length ? questions.map((one) => one.label) : [before], question?.label);
    const tap = this.#tap(question?.label);
    at("arc-row").hidden = !tap?.arcs;
    at("reach-row").hidden = !tap?.reach_in && this.desk.mode !== "ground";
    filled(at("arc"), tap?.arcs ?? [], question?.arc);
    if (document.activeElement !== at("reach")) at("reach").value = question?.reach_in ?? "";
  }
}

function filled(select, names, chosen) {
  if ([...select.options].map((one) => one.value).join() !== names.join())
    select.replaceChildren(...names.map((name) => new Option(name.replace("_", " "), name)));
  if (chosen && document.activeElement !== select) select.value = chosen;
}
