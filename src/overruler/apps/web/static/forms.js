// Small parts of the forms in the sheet.

export const element = (name, set = {}, ...children) => {
  const found = Object.assign(document.createElement(name), set);
  found.append(...children);
  return found;
};

export const button = (textContent, onclick, className = "tab") => element("button", { textContent, onclick, className });
export const row = (...children) => element("div", { className: "row" }, ...children);
export const labelled = (text, input) => element("label", {}, text, input);
export const hint = (textContent) => element("p", { className: "hint", textContent });
export const title = (textContent) => element("p", { className: "next", textContent });
export const said = (textContent) => element("p", { className: "said", textContent, role: "alert" });

export const choice = (names, kept) => {
  const select = element("select", {}, ...names.map(([value, text]) => new Option(text, value)));
  if (kept !== undefined) select.value = kept;
  return select;
};

// The games to choose from: first what serves any game, last the presets. One whose ruler only a scene
// file can give is left out: two taps could rule nothing.
export function fillGames(select, games, kept) {
  const option = ({ name, title }) => new Option(title, name);
  const [own, presets] = [false, true].map((preset) => games.filter((game) => !game.needs_ruler && Boolean(game.preset) === preset));
  own.sort((one, other) => (other.name === "inches") - (one.name === "inches"));
  const more = element("optgroup", { label: "More games, by how they measure" }, ...presets.map(option));
  select.replaceChildren(...own.map(option), ...(presets.length ? [more] : []));
  if ([...own, ...presets].some(({ name }) => name === kept)) select.value = kept;
}

export const number = (value, set = {}) => element("input", { type: "number", inputMode: "decimal", value, min: "1", step: "any", ...set });
export const text = (value, set = {}) => element("input", { type: "text", value, maxLength: 40, autocomplete: "off", ...set });
