/** Attributes by name, without undefined ones. @typedef {Record<string, string | number | undefined>} Attributes */

/** Replaces the children of an element. @param {string} id @param {(Node | string)[]} children */
export const fill = (id, children) => byId(id).replaceChildren(...children);

/** The element with an id. Throws if the page has none. @param {string} id @returns {Element} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}`);
  return found;
}

/** As `byId`, for a field of a form. @param {string} id */
export const fieldById = (id) => /** @type {HTMLInputElement} */ (byId(id));

/**
 * Creates an element. A text stays text and never becomes markup: names and paths come from the users who submit jobs.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export const element = (tag, attributes, ...children) => complete(document.createElement(tag), attributes, children);

/**
 * As `element`, for SVG.
 *
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {(Node | string)[]} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export const svgElement = (tag, attributes, ...children) =>
  complete(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

/**
 * A button that calls `act`.
 *
 * @param {string} label
 * @param {() => void} act
 */
export function button(label, act) {
  const made = element('button', { type: 'button' }, label);
  made.addEventListener('click', act);
  return made;
}

/**
 * @template {Element} Made
 * @param {Made} made
 * @param {Attributes} attributes
 * @param {(Node | string)[]} children
 */
function complete(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}
