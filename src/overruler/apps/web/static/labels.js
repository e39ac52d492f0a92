// Where pins, pills, marks and the numbers of rings stand on the photo: never on the gap, never on each other.

import { badge, enlarged, pin, plate } from "./svg.js";

const PIN_FAR = [20, 48, 76]; // from the base's rim to the middle of its pin: the first that is free
const PIN_R = 14;
const BADGE_R = 9;
const HANDLE_R = 17;
const APART = 3;
const AROUND = [-90, 180, 0, 90, -135, -45, 135, 45];

export class Labels {
  constructor(stage) {
    Object.assign(this, { stage, told: {} });
  }

  // What is to be labelled: `a` and `b` the bases of the pair, `line` its ends, `tag` and `colour` the pill,
  // `rings` the places that a ring's number may have, `unsure` the bases with a mark, `bases` all of them,
  // `held` the handles that somebody is to tap.
  set(told) {
    this.told = told;
    this.place();
  }

  // Everything anew, as the photo lies on the screen now.
  place() {
    const { a, b, line, tag, colour, rings = [], unsure = [], held = [] } = this.told;
    this.size = enlarged();
    this.taken = held.map((place) => this.#around(this.#screen(place), HANDLE_R));
    this.gap = line ? line.map((place) => this.#screen(place)) : null;
    const drawn = [];
    for (const [letter, piece] of [["A", a], ["B", b]]) if (piece) drawn.push(this.#pinned(letter, piece, letter === "A" ? b : a));
    if (line && tag) drawn.push(this.#pill(tag, colour));
    for (const ring of rings) drawn.push(this.#number(ring));
    for (const piece of unsure) drawn.push(this.#mark(piece));
    this.stage.marks.replaceChildren(...drawn.filter(Boolean));
    this.stage.steady();
  }

  // A pin stands beside its base on the side away from the other one.
  #pinned(letter, piece, other) {
    const [x, y] = this.#screen(piece.center_px);
    const rim = piece.reach_px * this.stage.scale;
    const away = other ? (Math.atan2(y - this.#screen(other.center_px)[1], x - this.#screen(other.center_px)[0]) * 180) / Math.PI : -90;
    const box = ([way, far]) => this.#around([x + (rim + far * this.size) * cos(way), y + (rim + far * this.size) * sin(way)], PIN_R);
    const ways = [-90, ...AROUND.map((turn) => away + 90 + turn)].filter((one) => Math.abs(turned(one - away)) <= 100);
    const places = PIN_FAR.flatMap((far) => [...ways, ...AROUND].map((way) => [way, far]));
    const place = places.find((one) => this.#free(box(one)) && this.#inSight(box(one))) ?? places.find((one) => this.#free(box(one))) ?? places[0];
    this.taken.push(box(place));
    const [way, far] = place;
    return pin(letter, this.#photo([x + rim * cos(way), y + rim * sin(way)]), way, far);
  }

  // The pill lies beside the line, as near to its middle as there is room.
  #pill(tag, colour) {
    const [start, end] = this.gap;
    const [wide, high] = [this.size * Math.max(24, tag.length * 7.4 + 16), this.size * 24];
    const along = [end[0] - start[0], end[1] - start[1]];
    const long = Math.hypot(...along) || 1;
    const across = [-along[1] / long, along[0] / long];
    const clear = (Math.abs(across[0]) * wide + Math.abs(across[1]) * high) / 2 + 8;
    const places = [clear, clear + 14, clear + 34, clear + 60].flatMap((off) =>
      [0.5, 0.4, 0.6, 0.25, 0.75, 0, 1].flatMap((share) =>
        [-1, 1].map((side) => [0, 1].map((axis) => start[axis] + share * along[axis] + side * off * across[axis])),
      ),
    );
    const boxed = (at) => around(...at, wide / 2, high / 2);
    const fitting = places.filter((at) => this.#free(boxed(at)) && this.#inSight(boxed(at)));
    const at = fitting.find((one) => !this.#coversBase(boxed(one))) ?? fitting[0];
    if (!at) return null; // there is no room on the photo; the sheet says it
    this.taken.push(boxed(at));
    return plate(tag, this.#photo(at), "plate", colour);
  }

  #coversBase(box) {
    return (this.told.bases || []).some((piece) => {
      const [x, y] = this.#screen(piece.center_px);
      const reach = piece.reach_px * this.stage.scale;
      return overlap(box, around(x, y, reach, reach));
    });
  }

  #number({ name, marks }) {
    const wide = Math.max(22, name.length * 7.4 + 14) / 2;
    for (const mark of marks) {
      const box = this.#around(this.#screen(mark), wide, 11);
      if (!this.#free(box) || !this.#inSight(box)) continue;
      this.taken.push(box);
      return plate(name, mark);
    }
    return null;
  }

  // A base that may be none has a question mark, one that a person placed has a hand's.
  #mark(piece) {
    const [x, y] = this.#screen(piece.center_px);
    const far = piece.reach_px * this.stage.scale + BADGE_R * this.size;
    const way = [-45, 45, 135, -135].find((one) => this.#free(this.#around([x + far * cos(one), y + far * sin(one)], BADGE_R)));
    if (way === undefined) return null; // its outline is dashed all the same
    const at = [x + far * cos(way), y + far * sin(way)];
    this.taken.push(this.#around(at, BADGE_R));
    return badge(piece.doubt.by_hand ? "✎" : "?", this.#photo(at), BADGE_R);
  }

  // The box on the screen of what reaches so far from its middle, drawn in letters of the usual size.
  #around(at, wide, high = wide) {
    return around(...at, wide * this.size, high * this.size);
  }

  #free(box) {
    return !this.taken.some((other) => overlap(box, other)) && !(this.gap && crosses(box, this.gap));
  }

  #inSight([left, top, right, bottom]) {
    const free = this.stage.free;
    return left >= free.left && right <= free.right && top >= free.top && bottom <= free.bottom;
  }

  #screen([x, y]) {
    const { stage } = this;
    return [x * stage.scale + stage.x, y * stage.scale + stage.y];
  }

  #photo([x, y]) {
    const { stage } = this;
    return [(x - stage.x) / stage.scale, (y - stage.y) / stage.scale];
  }
}

const cos = (deg) => Math.cos((deg * Math.PI) / 180);
const sin = (deg) => Math.sin((deg * Math.PI) / 180);
const turned = (deg) => ((((deg + 180) % 360) + 360) % 360) - 180;
const around = (x, y, wide, high) => [x - wide, y - high, x + wide, y + high];
const overlap = (one, other) =>
  one[0] < other[2] + APART && other[0] < one[2] + APART && one[1] < other[3] + APART && other[1] < one[3] + APART;

// Whether a line comes nearer to a box than a few pixels (Liang and Barsky's clipping).
function crosses([left, top, right, bottom], [[x, y], [u, v]]) {
  let [first, last] = [0, 1];
  for (const [step, room] of [[x - u, x - left + APART], [u - x, right + APART - x], [y - v, y - top + APART], [v - y, bottom + APART - y]]) {
    if (step === 0 && room < 0) return false;
    if (step < 0) first = Math.max(first, room / step);
    if (step > 0) last = Math.min(last, room / step);
  }
  return first <= last;
}

