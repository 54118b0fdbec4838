/** Counts that are not what their sender says of them. */
export class CountsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CountsError';
  }
}

/**
 * The counts that several messages hold, in their order: `lengths` says how many are in each of the arrays that are returned, which
 * share their memory. Throws CountsError, before it takes any memory, for lengths that the bytes cannot hold, and for bytes that
 * are no counts, end within one, or are more or fewer than the lengths say.
 */
export function joinCounts(messages: readonly Uint8Array[], lengths: readonly number[]): Uint32Array[] {
  const wanted = lengths.reduce((sum, length) => sum + length, 0);
  const bytes = messages.reduce((sum, message) => sum + message.length, 0);
  if (wanted > bytes) throw new CountsError(`Expected ${wanted} counts but received ${bytes} bytes`);
  const counts = new Uint32Array(wanted);
  let read = 0;
  for (const message of messages) read = readCounts(message, counts, read);
  if (read < wanted) throw new CountsError(`Expected ${wanted} counts but received ${read}`);
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return counts.subarray(end - length, end);
  });
}

/** Reads all counts of a message to `counts` from number `next` on; returns how many are there now. */
function readCounts(message: Uint8Array, counts: Uint32Array, next: number): number {
  for (let at = 0; at < message.length; ) {
    if (next === counts.length) throw new CountsError(`Expected ${next} counts but received more`);
    let byte = message[at++]!;
    let value = byte & 0x7f;
    for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
      if (at === message.length) throw new CountsError('Expected whole counts in a message but one ends early');
      byte = message[at++]!;
      value += (byte & 0x7f) * scale;
      if (scale > 2 ** 28 || value >= 2 ** 32)
        throw new CountsError('Expected counts below 2^32 but received a larger one');
    }
    counts[next++] = value;
  }
  return next;
}
