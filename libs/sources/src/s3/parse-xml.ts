import { XMLParser } from 'fast-xml-parser';

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  trimValues: false,
  htmlEntities: true,
  isArray: (name) => ['Contents', 'CommonPrefixes', 'Upload', 'Part', 'Blob', 'BlobPrefix'].includes(name),
});

/** What a store answers; undefined if it is not XML. */
// biome-ignore lint/suspicious/noExplicitAny: what a server sends is for the callers to look into.
export function parseXml(xml: string): any {
  try {
    return parser.parse(xml);
  } catch {
    return undefined;
  }
}

/** The text of an element; empty if there is none. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
