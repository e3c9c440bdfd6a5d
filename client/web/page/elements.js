/**
 * Elements of the page, made and found. Refuses to know what they are for.
 */

/** @param {string} id */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * @param {string} tag @param {Record<string, string | boolean | ((event: Event) => void)>} attributes; those
 *   that are functions listen to the event of their name
 * @param {...(Node | string)} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** Writes a text only where it is another one: what is looked at does not flicker. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** The page's colours, as they are now; canvases cannot read them from a style sheet. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["ink", "quiet", "line", "groove", "card", "user", "agent", "alarm", "overlap"];
  const own = Object.fromEntries(names.map((name) => [name, colour(name)]));
  return {
    ...own,
    userSoft: colour("user-soft"),
    agentSoft: colour("agent-soft"),
    userFaint: colour("user-faint"),
    agentFaint: colour("agent-faint"),
    plain: own.quiet,
    warn: colour("warn"),
  };
}

/** @param {() => void} then the colours have changed */
export function onPaletteChange(then) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", then);
}
