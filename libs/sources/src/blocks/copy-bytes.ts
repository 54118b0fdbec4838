const few = 32;

/**
 * Copies bytes from one place up to another, which is left out. Few, as a URI has that the one before has not, are
 * copied sooner than Node is called: a tenth of the time of packing (measured).
 */
export function copyBytes(bytes: Buffer, from: number, end: number, into: Buffer, place: number): void {
  if (end - from > few) bytes.copy(into, place, from, end);
  else for (let at = from, to = place; at < end; ) into[to++] = bytes[at++]!;
}
