// Lengths in the unit that somebody chose; the browser keeps the choice.

import { remembered } from "./kept.js";

const MM_PER_INCH = 25.4;
const IN_MM = /(\d+(?:\.\d+)?)(?: ± (\d+(?:\.\d+)?))? mm\b/g;
const IN_INCHES = /(\d+(?:\.\d+)?)(?: ± (\d+(?:\.\d+)?))? in\b/g;
const CM2_PER_SQUARE_INCH = 6.4516;
const IN_CM2 = /(\d+) cm²/g;
const IN_SQUARE_INCHES = /(\d+(?:\.\d+)?) sq in\b/g;
const MEASURE = /((?:± )?\d+(?:\.\d+)?(?: [±×] \d+(?:\.\d+)?)?(?: (?:mm|cm²|sq in|in\b|%))?)/;

export const UNITS = [["", "the game's"], ["mm", "millimetres"], ["in", "inches"]];
export const unit = () => remembered("unit") || "";
export const choose = (name) => remembered("unit", name);

// A sentence with its lengths and areas in the chosen unit. It holds no names: a base of 27 mm is called so in any unit.
export function inUnit(text) {
  if (unit() === "in")
    return text
      .replace(IN_MM, (_, length, doubt) => spelled(length, doubt, 1 / MM_PER_INCH, Math.max(decimals(doubt ?? length), 1) + 1, "in"))
      .replace(IN_CM2, (_, area) => `${(area / CM2_PER_SQUARE_INCH).toFixed(1)} sq in`);
  if (unit() === "mm")
    return text
      .replace(IN_INCHES, (_, length, doubt) => spelled(length, doubt, MM_PER_INCH, 1, "mm"))
      .replace(IN_SQUARE_INCHES, (_, area) => `${Math.round(area * CM2_PER_SQUARE_INCH)} cm²`);
  return text;
}

// What a doubt in mm is and what it becomes, in the chosen unit or the table's own, with as many digits as tell the two apart.
export function change(before, after, own) {
  const name = unit() || own;
  const told = (mm, more) => (name === "in" ? (mm / MM_PER_INCH).toFixed(2 + more) : mm.toFixed(1 + more));
  const more = [0, 1].find((each) => told(before, each) !== told(after, each) && Number(told(after, each))) ?? 2;
  return `± ${told(before, more)} ${name} becomes ± ${told(after, more)} ${name}`;
}

const decimals = (number) => number.split(".")[1]?.length ?? 0;

function spelled(length, doubt, times, digits, name) {
  const words = (value) => (Number(value) * times).toFixed(digits);
  return `${words(length)}${doubt === undefined ? "" : ` ± ${words(doubt)}`} ${name}`;
}

// The parts of a text; no line of the page ends within a measure, as after "±".
export function parts(text) {
  const whole = (measure) => Object.assign(document.createElement("span"), { className: "measure", textContent: measure });
  return text.split(MEASURE).map((part, at) => (at % 2 && part.includes(" ") ? whole(part) : part));
}
