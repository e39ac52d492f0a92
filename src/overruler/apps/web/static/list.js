// The bases as a list, for keyboards and screen readers, and for whoever prefers names.

import { unit } from "./lengths.js";

const HINTS = {
  rule: "Choose the base to measure from, then the target.",
  correct: "Choose the base to correct.",
  units: "Choose the bases of the unit.",
};

const element = (name, className = "", text = "") => Object.assign(document.createElement(name), { className, textContent: text });

export function fill(table, dialog) {
  const draw = () => dialog.querySelector("ul").replaceChildren(...table.found.pieces.map(row));
  const mode = table.modes[table.mode]; // none where bases are ruled on
  dialog.querySelector(".hint").textContent = HINTS[table.mode];
  const row = (piece) => {
    const button = element("button");
    const words = element("span", "", piece.name);
    const letter = piece.id === table.a?.id ? "A" : piece.id === table.b?.id ? "B" : "";
    words.append(element("small", "", about(piece, unit() || table.found.unit)));
    button.append(words);
    if (letter && !mode) button.append(element("span", "letter", letter));
    button.setAttribute("aria-pressed", Boolean(mode ? mode.has(piece.id) : letter));
    button.dataset.piece = piece.id;
    button.onclick = () => {
      if (table.mode === "correct") dialog.close(); // one is corrected at a time
      if (mode) mode.listed(piece);
      else table.pick(piece);
      if (!mode && table.a && table.b) dialog.close();
      if (!dialog.open) return;
      draw();
      dialog.querySelector(`[data-piece="${piece.id}"]`).focus();
    };
    const item = element("li");
    item.append(button);
    return item;
  };
  draw();
  dialog.showModal();
}

function about(piece, told) {
  const numbered = piece.name === piece.id ? "" : `${piece.id}, `;
  // In inches one more decimal: an inch is 25 mm.
  const length = (mm, digits) => (told === "in" ? (mm / 25.4).toFixed(digits + 1) : mm.toFixed(digits));
  const seen = piece.doubt?.by_hand ? ", placed by hand" : piece.visible === undefined ? "" : `, ${Math.round(100 * piece.visible)} % seen`;
  const whose = [piece.player, piece.leader && "leader"].filter(Boolean).map((word) => `, ${word}`).join("");
  return `${numbered}${piece.base.name}, at ${piece.place_mm.map((mm) => length(mm, 0)).join(" / ")} ${told} ± ${length(piece.doubt_mm, 1)}${seen}${whose}${doubted(piece)}`;
}

// Whether it may be no piece, in words.
export const doubted = (piece) => (piece.doubt?.probability === undefined ? "" : `, a piece with a probability of ${Number((100 * piece.doubt.probability).toPrecision(3))} %`);
