// What the browser keeps of somebody's choices; where nothing may be kept they are chosen anew.

export function remembered(key, value) {
  return kept(() => localStorage, key, value);
}

// The same until the page is closed.
export function held(key, value) {
  const text = kept(() => sessionStorage, key, value && JSON.stringify(value));
  return text ? JSON.parse(text) : null;
}

function kept(storage, key, value) {
  try {
    if (value === undefined) return storage().getItem(`overruler.${key}`);
    storage().setItem(`overruler.${key}`, value);
  } catch {
    return null;
  }
}
