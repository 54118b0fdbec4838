/** A server that sends nothing for so many milliseconds, not even the comments that keep a connection open, is gone. */
const silentWithinMs = 60_000;

/** The data of each event of a stream. Rejects if the connection is lost, or nothing comes for a minute. */
export async function* serverSentEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string, void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await unlessSilent(reader.read());
      if (done) return;
      const events = `${text}${value}`.split(/\r?\n\r?\n/);
      text = events.pop()!;
      for (const event of events) {
        const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
        if (lines.length > 0) yield lines.map((line) => line.slice(5).trimStart()).join('\n');
      }
    }
  } finally {
    // Cancelling fails too if the connection is lost.
    reader.cancel().catch(() => {});
  }
}

async function unlessSilent<T>(answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('The connection is silent')), silentWithinMs);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}
