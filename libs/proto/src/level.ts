/** Values of `level` of a specification, in words. */
export const allowedLevels = "a level (0 is the largest), or the most micrometres a pixel, such as '0.5um'";

/** The level of a pyramid that a job asks for: its number, or the most micrometres a pixel. */
export type AskedLevel = { number: number } | { microns: number };

/** Undefined for any other text. */
export function parseLevel(text: string): AskedLevel | undefined {
  if (/^\d{1,2}$/.test(text)) return { number: Number(text) };
  const [, digits] = /^(\d{1,6}\.?\d{0,9}|\.\d{1,9}) ?(?:um|[\u00b5\u03bc]m)$/i.exec(text) ?? [];
  const microns = Number(digits ?? 0);
  return microns > 0 ? { microns } : undefined;
}

/** One form of each level; '' for level 0, which is read unless a job asks for another. Undefined for other texts. */
export function canonicalLevel(text: string): string | undefined {
  const level = parseLevel(text);
  if (!level) return undefined;
  if ('microns' in level) return `${level.microns}um`;
  return level.number === 0 ? '' : String(level.number);
}
