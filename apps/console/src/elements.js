/** Replaces what is in the element. @param {string} id @param {Node[]} children */
export const fill = (id, children) => byId(id).replaceChildren(...children);

/** The element of that id, which the page has. @param {string} id @returns {Element} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}`);
  return found;
}

/**
 * Text goes in as text, never as markup: names and paths come from whoever submits jobs.
 *
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} children
 */
export function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
