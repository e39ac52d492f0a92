// The profile of some bases: what a game's questions need to know of them beside where they stand.

import { button, choice, element, hint, labelled, number, row, text, title } from "./forms.js";

// The parts of the panel; `save(stats)` is given those of one base, made from what it had.
export function profile(fields, stats, ids, save, back) {
  const inputs = fields.map((field) => [field, input(field, at(stats, field.key))]);
  const shown = inputs.map(([field, one]) => (field.type === "flag" ? element("label", { className: "check" }, one, field.label) : labelled(field.label, one)));
  const flag = (i) => fields[i].type === "flag";
  return [
    title(ids.length === 1 ? `Profile of ${ids[0]}` : `Profile of ${ids.length} bases`),
    row(...shown.filter((_, i) => !flag(i))),
    row(...shown.filter((_, i) => flag(i))),
    hint("What is left empty is not known, or not there."),
    element("div", { className: "row stay" }, button("Save the profile", () => save((before) => told(inputs, before)), "main"), button("Back", back)),
  ];
}

const at = (stats, key) => key.split(".").reduce((part, name) => part?.[name], stats);

function input({ type, of }, value) {
  if (type === "flag") return element("input", { type: "checkbox", checked: value === true });
  if (type === "choice") return choice(of.map((one) => [String(one), String(one)]), String(value ?? of[0]));
  if (type === "figures") return text((value || []).map((figure) => spelled(figure.range)).join(" "), { placeholder: "4 4 4 5" });
  return number(value ?? "", { min: type === "number" ? "0" : "-99" });
}

const spelled = (range) => (typeof range === "object" ? `${range.infantry ?? "-"}/${range.vehicle ?? "-"}` : range);

// A range value for all targets, or against infantry / vehicles: 4, 4/2, -/6.
function figure(words) {
  const [infantry, vehicle] = words.split("/");
  if (vehicle === undefined) return { range: Number(words) };
  return { range: Object.fromEntries(Object.entries({ infantry, vehicle }).filter(([, one]) => one !== "-").map(([key, one]) => [key, Number(one)])) };
}

function value({ type, of }, { checked, value: said }) {
  if (type === "flag") return checked;
  if (type === "choice") return of.find((one) => String(one) === said);
  if (type === "figures") return said.trim() ? said.trim().split(/[\s,]+/).map(figure) : undefined;
  return said === "" ? undefined : Number(said);
}

// What was said, over what was known before; a part whose first field is empty is none.
function told(inputs, before) {
  const stats = { ...before };
  for (const [field, one] of inputs) {
    const [part, name] = field.key.split(".");
    const said = value(field, one);
    if (!name) set(stats, part, said);
    else if (inputs.find(([other]) => other.key.startsWith(`${part}.`))[0] === field) stats[part] = said === undefined ? null : { [name]: said };
    else if (stats[part]) stats[part][name] = said ?? 0;
  }
  return stats;
}

const set = (stats, key, said) => (said === undefined ? delete stats[key] : (stats[key] = said));
