// A ruling in words: the answer, how sure it is, and what would change it.

import { arrow, element as made } from "./forms.js";
import { inUnit, parts } from "./lengths.js";
import { icon } from "./svg.js";

const LEAST = 0.001; // a smaller chance is not told
const SURE = 0.999; // as of a certain ruling

const element = (name, className = "", text = "") => made(name, { className }, ...parts(text));

// `told` is a hint (text), a refusal ({ error }) or a ruling; `letters` are those of the pins, by the pieces' ids,
// and `named` puts the pieces' names in place of their ids.
export function ruled(into, told, letters = {}, named = (text) => text) {
  if (typeof told === "string") return into.replaceChildren(element("p", "next", told));
  if (told.error) return into.replaceChildren(element("p", "said", told.error));
  const call = element("div", "call");
  const words = told.words || bare(told);
  if (told.look) call.append(icon(told.look));
  const title = element("p", "headline", named(inUnit(words.headline)));
  call.append(title, element("p", "detail", named(inUnit(words.detail))));
  into.replaceChildren(call, ...between(words, letters), ...doubts(words.doubts || []), ...odds(told.answer, named), ...next(told.answer, named));
}

// A ruling without a line: its answer, then what the sentence says beside it. Of ground, how many bases it holds, then
// which; where that is unsure, how many of them are sure, and the chances of the others follow.
function bare({ headline, sentence, answer }) {
  const { pieces } = answer;
  const beside = sentence.startsWith(`${headline}, `) ? sentence.slice(headline.length + 2) : sentence;
  const size = headline.replace(/, [^,]+(, [^,]+)* in it$/, "");
  if (!Array.isArray(pieces) || size === headline) return { headline, detail: beside, between: [] };
  const counted = `${size}, ${pieces.length === 1 ? "1 base" : `${pieces.length} bases`} in it`;
  const chances = unsure(answer) && members(answer);
  const which = chances ? [`${pieces.filter((id) => chances[id] >= SURE).length} of them sure`] : pieces;
  return { headline: counted, detail: beside === sentence ? sentence : [...which, beside].join(", "), between: [] };
}

// Which two it is about: the letters of their pins, and their names.
function between({ between: ids, names }, letters) {
  if (ids.length !== 2) return [];
  const named = ids.map((id, index) => [letters[id], names[index]].filter(Boolean).join(", "));
  return [made("p", { className: "between" }, ...arrow(named, parts))];
}

// What the answer rests on that the photo does not confirm.
function doubts(texts) {
  const list = element("ul", "warnings");
  list.append(...texts.map((text) => element("li", "", text)));
  return texts.length ? [list] : [];
}

// Whether more than one answer has a chance.
const unsure = (answer) => Object.values(answer.probability || {}).filter((share) => share >= LEAST).length > 1 && answer.call !== "certain";

// How likely each base is among those that an answer lists; null where the answers are no lists.
function members({ probability, pieces }) {
  if (!Array.isArray(pieces)) return null;
  const chances = {};
  for (const [list, share] of Object.entries(probability))
    for (const id of JSON.parse(list)) chances[id] = (chances[id] || 0) + share;
  return chances;
}

// The chances of every answer that has one, where they are not as good as settled; of lists, those of each base that is unsure.
function odds(answer, named) {
  if (!unsure(answer)) return [];
  const each = members(answer);
  const told = Object.entries(each || answer.probability).filter(([, share]) => share >= LEAST && !(each && share >= SURE));
  const list = element("div", each ? "odds named" : "odds");
  for (const [name, share] of told.sort((a, b) => b[1] - a[1])) {
    const [row, bar] = [element("div"), element("i")];
    bar.style.width = `${100 * share}%`;
    row.append(element("span", "", named(said(name))), bar, element("span", "", `${(100 * share).toFixed(share > 0.99 ? 1 : 0)} %`));
    list.append(row);
  }
  return [list];
}

function next(answer, named) {
  const least = (answer.changes || []).reduce((best, one) => (!best || one.move_mm < best.move_mm ? one : best), null);
  if (!least || least.move_mm > 60) return [];
  return [element("p", "hint", `${inUnit(`${least.move_mm.toFixed(1)} mm`)} of a move would make it ${named(said(JSON.stringify(least.to)))}.`)];
}

const said = (name) => ({ true: "yes", false: "no", null: "out of reach" })[name] ?? name.replaceAll('"', "");
