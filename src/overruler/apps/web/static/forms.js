// Small parts of the forms in the sheet.

export const element = (name, set = {}, ...children) => {
  const found = Object.assign(document.createElement(name), set);
  found.append(...children);
  return found;
};

// A button whose deed the server is still asked to do is not pressed again: a double click sends once. It keeps the focus.
export const button = (textContent, does, className = "tab") => {
  const made = element("button", { textContent, className });
  made.onclick = async (event) => {
    if (made.ariaDisabled) return;
    const done = does(event);
    if (!(done instanceof Promise)) return;
    made.ariaDisabled = "true";
    await done.finally(() => (made.ariaDisabled = null));
  };
  return made;
};
export const row = (...children) => element("div", { className: "row" }, ...children);
export const labelled = (text, input) => {
  if (input.dataset) input.dataset.label = text;
  return element("label", {}, text, input);
};
export const hint = (textContent) => element("p", { className: "hint", textContent });
export const title = (textContent) => element("p", { className: "next", textContent, tabIndex: -1 });
export const said = (textContent) => element("p", { className: "said", textContent, role: "alert" });

// From one to another: a name that is written from right to left keeps its direction, and turns neither arrow nor order.
export const arrow = (names, parts = Array.of) => names.flatMap((name, k) => [...(k ? [" → "] : []), element("bdi", {}, ...parts(name))]);

// Say what went wrong in a panel, in sight.
export function complain(into, words) {
  into.hidden = false;
  into.textContent = words;
  into.scrollIntoView({ block: "nearest" });
}

// Other parts in a panel. Whoever stood in it stays in it: at what is called as before, or else at its title.
export function refill(panel, ...parts) {
  const held = panel.contains(document.activeElement) && document.activeElement;
  panel.replaceChildren(...parts);
  if (!held || panel.contains(held)) return;
  const same = [...panel.querySelectorAll(held.tagName)].find((one) => called(one) === called(held) && !one.disabled);
  const stays = same ?? panel.querySelector(".next") ?? panel;
  if (stays === panel) panel.tabIndex = -1;
  stays.focus();
}

// By what words a control goes: its label's, its own, or else what it was named.
const called = (control) => control.dataset.label ?? control.getAttribute("aria-label") ?? control.textContent;

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
