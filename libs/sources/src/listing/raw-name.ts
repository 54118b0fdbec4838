/**
 * A file name that is not UTF-8, byte for byte as a file: URI has it. Such a file cannot be read by name: Node gives
 * the name with U+FFFD for what it could not read, as another file may be called.
 */
export const escapeBytes = (name: Uint8Array): string =>
  Array.from(name, (byte) => {
    const char = String.fromCharCode(byte);
    return /[\w.~-]/.test(char) ? char : `%${hex(byte).toUpperCase()}`;
  }).join('');

/** Why the file of that name, as escapeBytes gives it, is no input: a sentence. */
export function notUtf8(escaped: string): string {
  const bytes = Buffer.from(
    escaped.replace(/%(..)/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
    'latin1',
  );
  return `Its name is not UTF-8 (bytes ${Array.from(bytes, hex).join(' ')}); rename it`;
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
