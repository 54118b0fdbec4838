/**
 * A file name that is not UTF-8, byte for byte, as in a file: URI. Such a file cannot be read by the name that Node
 * gives: that name has U+FFFD in place of unreadable bytes, and another file may have it.
 */
export const escapeBytes = (name: Uint8Array): string =>
  Array.from(name, (byte) => {
    const char = String.fromCharCode(byte);
    return /[\w.~-]/.test(char) ? char : `%${hex(byte).toUpperCase()}`;
  }).join('');

/** Why a file is not an input, in one sentence; `escaped`: its name from escapeBytes. */
export function notUtf8(escaped: string): string {
  const bytes = Buffer.from(
    escaped.replace(/%(..)/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
    'latin1',
  );
  return `Its name is not UTF-8 (bytes ${Array.from(bytes, hex).join(' ')}); rename it`;
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
