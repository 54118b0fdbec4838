/** The error for counts that contradict what their sender says about them. */
export class CountsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CountsError';
  }
}

/**
 * Decodes the counts of several messages, in order. Returns one array per entry of `lengths`, with that many counts;
 * the arrays share memory. Throws CountsError, before it takes any memory, if the bytes cannot hold that many counts,
 * end within a count, or hold more or fewer. Throws it also for a count of 2^32 or more.
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
 * Fills `counts` from byte `from` on; returns the offset behind the last one. Throws CountsError if a count is 2^32 or
 * more, or the bytes end too early.
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

/** How many counts the bytes hold; undefined if the bytes end within a count. */
export function countsIn(bytes: Uint8Array): number | undefined {
  let ends = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i]! < 0x80) ends++;
  return bytes.length > 0 && bytes.at(-1)! >= 0x80 ? undefined : ends;
}
