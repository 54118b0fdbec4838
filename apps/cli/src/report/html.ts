/** HTML in which all foreign text is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | readonly Part[];

/**
 * HTML from a template. Inserted texts are escaped, for elements and quoted attributes; inserted Html stays unchanged.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const [first = '', ...rest] = strings;
  return new Html(rest.reduce((text, next, i) => text + textOf(parts[i]!) + next, first));
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  return Array.isArray(part) ? part.map(textOf).join('') : escaped(String(part));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character]!);
