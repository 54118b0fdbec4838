/** Counts that are not what their sender says of them. */
export class CountsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CountsError';
  }
}

/**
 * The counts that several messages hold, in their order: `lengths` says how many are in each of the arrays that are
 * returned, which share their memory. Throws CountsError, before it takes any memory, for lengths that the bytes cannot
 * hold, and for bytes that are no counts, end within one, or are more or fewer than the lengths say.
 */
export function joinCounts(messages: readonly Uint8Array[], lengths: readonly number[]): Uint32Array[] {
  const wanted = lengths.reduce((sum, length) => sum + length, 0);
  const bytes = messages.reduce((sum, message) => sum + message.length, 0);
  if (wanted > bytes) throw new CountsError(`Expected ${wanted} counts but received ${bytes} bytes`);
  let said = 0;
  for (const message of messages) {
    const own = countsIn(message);
    if (own === undefined) throw new CountsError('Expected whole counts in a message but one ends early');
    said += own;
  }
  if (said !== wanted) throw new CountsError(`Expected ${wanted} counts but received ${said}`);
  const counts = new Uint32Array(wanted);
  let read = 0;
  for (const message of messages) {
    const own = countsIn(message)!;
    readCountsAt(message, 0, counts.subarray(read, read + own));
    read += own;
  }
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return counts.subarray(end - length, end);
  });
}

/**
 * Reads as many counts as `counts` holds from byte `from` on; returns where they end. Throws CountsError where they are
 * too large, or the bytes end before.
 */
export function readCountsAt(bytes: Uint8Array, from: number, counts: Uint32Array): number {
  let at = from;
  for (let i = 0; i < counts.length; i++) {
    const first = bytes[at++]!;
    if (first < 0x80) {
      counts[i] = first;
      continue;
    }
    // Most counts of a frame have one byte or two, which are read without a loop.
    let byte = bytes[at++]!;
    let value = (first & 0x7f) | ((byte & 0x7f) << 7);
    for (let scale = 2 ** 14; byte >= 0x80; scale *= 0x80) {
      byte = bytes[at++]!;
      value += (byte & 0x7f) * scale;
      if (scale > 2 ** 28 || value >= 2 ** 32)
        throw new CountsError('Expected counts below 2^32 but received a larger one');
    }
    counts[i] = value;
  }
  if (at > bytes.length) throw new CountsError('Expected more counts than there are');
  return at;
}

/** Numbers whose last byte is in these bytes; undefined where the bytes end within one. */
export function countsIn(bytes: Uint8Array): number | undefined {
  let ends = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i]! < 0x80) ends++;
  return bytes.length > 0 && bytes.at(-1)! >= 0x80 ? undefined : ends;
}
