/** The path of an object in URLs: everything except letters, digits, - . _ ~ and / is escaped, as in signatures. */
export const pathOfKey = (key: string): string => key.split('/').map(encodePart).join('/');

function encodePart(part: string): string {
  return encodeURIComponent(part).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
