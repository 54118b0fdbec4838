/** A coordinate, to hundredths. */
export const fixed = (value: number): string => String(Math.round(value * 100) / 100);

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character]!);
