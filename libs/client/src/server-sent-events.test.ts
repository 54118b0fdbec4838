import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { serverSentEvents } from './server-sent-events.ts';

const eventOf = (data: string): string =>
  `id: 1\n${data
    .split('\n')
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;

/** A stream of these bytes, cut at the given offsets. */
function cut(bytes: Uint8Array<ArrayBuffer>, cuts: readonly number[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const ends = [...cuts.map((one) => one % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ReadableStream.from(ends.map((end, i) => bytes.slice(i === 0 ? 0 : ends[i - 1], end))) as ReadableStream<
    Uint8Array<ArrayBuffer>
  >;
}

test('events are read as they were sent, wherever the stream is cut, and comments are skipped', async () => {
  const text = fc.string({ unit: 'grapheme' }).map((some) => some.replaceAll(/[\r\n]/g, '').trimStart());
  const data = fc.array(text, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n'));
  await fc.assert(
    fc.asyncProperty(fc.array(data, { maxLength: 5 }), fc.array(fc.nat()), async (events, cuts) => {
      const bytes = new TextEncoder().encode(
        `:\n\n${events.map((event) => `${eventOf(event)}:\n\n`).join('')}data: half`,
      );
      assert.deepEqual(await Array.fromAsync(serverSentEvents(cut(bytes, cuts))), events);
    }),
    { numRuns: runs(50) },
  );
});
