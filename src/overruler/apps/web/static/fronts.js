// Which side of a ship is its front, where the photo does not say: a number ahead of each side, one to tap.

import { button, row, said, title } from "./forms.js";
import { handle } from "./loupe.js";

const AWAY_PX = 44; // from the ship's middle: so far apart no finger confuses two numbers
const FINGER_PX = 26;

export class Fronts {
  constructor(table) {
    Object.assign(this, { table, sides: [] });
  }

  show(piece, into) {
    const scale = this.table.stage.scale;
    this.piece = piece;
    this.sides = piece.fronts.filter((side) => side.at_px).map((side) => ({ ...side, place: away(piece.center_px, side.at_px, AWAY_PX / scale) }));
    this.table.stage.hand.replaceChildren(...this.sides.map((side, i) => handle(side.place, String(i + 1))));
    this.table.stage.steady();
    const buttons = this.sides.map((side, i) => {
      const one = button(String(i + 1), () => this.set(side));
      one.setAttribute("aria-label", `Front is side ${i + 1}`);
      return one;
    });
    this.complaint = said("");
    into.replaceChildren(title(`Which side of ${piece.name} is its front? Tap its number.`), row(...buttons), this.complaint);
  }

  hide() {
    if (this.sides.length) this.table.stage.hand.replaceChildren();
    this.sides = [];
  }

  // The side whose number lies under a finger.
  at([x, y]) {
    const reach = FINGER_PX / this.table.stage.scale;
    return this.sides.find(({ place }) => Math.hypot(place[0] - x, place[1] - y) < reach);
  }

  async set(side) {
    const turn = { do: "turn", id: this.piece.id, heading_deg: side.heading_deg };
    await this.table.corrected((fixes) => [...fixes, turn]).catch((error) => (this.complaint.textContent = error.message));
  }
}

// The place towards another, at least so far away.
function away([x, y], [u, v], least) {
  const far = Math.hypot(u - x, v - y) || 1;
  const share = Math.max(far, least) / far;
  return [x + share * (u - x), y + share * (v - y)];
}
