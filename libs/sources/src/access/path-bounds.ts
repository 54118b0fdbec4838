/** Limits of real systems: Linux opens no path with more bytes, and no file system has longer names. */
const mostPathBytes = 4096;
const mostNameBytes = 255;
const mostLevels = 255;

/** Why no file can have that path, in one sentence; undefined if a file may have it. */
export function whyNoPath(path: string): string | undefined {
  const bytes = Buffer.byteLength(path);
  if (bytes > mostPathBytes) return `The path has ${bytes} bytes: at most ${mostPathBytes} are allowed`;
  const names = path.split('/').filter((name) => name !== '');
  if (names.length > mostLevels) return `The path has ${names.length} levels: at most ${mostLevels} are allowed`;
  const longest = Math.max(0, ...names.map((name) => Buffer.byteLength(name)));
  if (longest > mostNameBytes) return `The path has a name of ${longest} bytes: at most ${mostNameBytes} are allowed`;
  return undefined;
}
