// The bases as a list, for keyboards and screen readers, and for whoever prefers names.

import { unit } from "./lengths.js";

const element = (name, className = "", text = "") => Object.assign(document.createElement(name), { className, textContent: text });

export function fill(table, dialog) {
  const draw = () => dialog.querySelector("ul").replaceChildren(...table.found.pieces.map(row));
  const row = (piece) => {
    const button = element("button");
    const words = element("span", "", piece.name);
    const letter = piece.id === table.a?.id ? "A" : piece.id === table.b?.id ? "B" : "";
    words.append(element("small", "", about(piece, unit() || table.found.unit)));
    button.append(words);
    if (letter) button.append(element("span", "letter", letter));
    button.setAttribute("aria-pressed", Boolean(letter));
    button.dataset.piece = piece.id;
    button.onclick = () => {
      table.pick(piece);
      if (table.a && table.b) return dialog.close();
      draw();
      dialog.querySelector(`[data-piece="${piece.id}"]`).focus();
    };
    const item = element("li");
    item.append(button);
    return item;
  };
  if (table.mode !== "rule") table.enter("rule");
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
