// What the browser keeps of somebody's choices; where nothing may be kept they are chosen anew.

export function remembered(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(`overruler.${key}`);
    localStorage.setItem(`overruler.${key}`, value);
  } catch {
    return null;
  }
}
