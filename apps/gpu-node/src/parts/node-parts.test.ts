import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FoundInPart, Lease } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { mostWaiting } from '@halogrid/results/part-bounds';
import { turns } from '@halogrid/testing';
import { type KeptShard, NodeParts } from './node-parts.ts';
import { OutputError } from './output-error.ts';

const shardOf = (bins: number): FoundShard => {
  const counts = { counted: new Float64Array(1), bins: new Uint32Array(bins) };
  const one = new Uint32Array(1);
  return { block: new Uint8Array(0), found: one, widths: one, heights: one, parts: [counts] };
};
const shard = shardOf(1);
const keptAs = (part: string): KeptShard => ({ found: FoundInPart.create({ part }), seconds: 1 });

/** Parts that are written when the test says so, and a log of the calls. */
function noted({ opens = true } = {}) {
  const told: string[] = [];
  const written: PromiseWithResolvers<KeptShard>[] = [];
  const options = { opens };
  const parts = new NodeParts(async ({ jobId }) => {
    if (!options.opens) throw new Error('The folder is gone');
    told.push(`${jobId} opened`);
    return {
      add: () => {
        told.push(`${jobId} added`);
        written.push(Promise.withResolvers());
        return written.at(-1)!.promise;
      },
      sum: async () => {
        told.push(`${jobId} summed`);
        return keptAs('');
      },
      flush: () => void told.push(`${jobId} flushed`),
      close: async () => void told.push(`${jobId} closed`),
    };
  });
  const take = async (): Promise<string[]> => {
    await turns(3);
    return told.splice(0);
  };
  return { parts, take, written, options };
}

const lease = (jobId = 'a', more: Partial<Lease> = {}): Lease =>
  Lease.fromPartial({ jobId, costBytes: 5, scratch: `file:///${jobId}`, ...more });

test('a part waits for more shards as long as another shard is being computed, of any kind and any job', async () => {
  const { parts, take } = noted();
  const [first, second, tile] = [parts.hold(lease('a')), parts.hold(lease('b')), parts.hold(lease('c'))];
  void first.keep(shard);
  void second.keep(shard);
  assert.deepEqual(await take(), ['a opened', 'b opened', 'a added', 'b added']);
  tile.release();
  assert.deepEqual(await take(), ['a flushed', 'b flushed']);
  // A shard that waits for its part is not being computed, and its release changes nothing.
  const next = parts.hold(lease('a'));
  first.release();
  second.release();
  assert.deepEqual(await take(), ['b closed']);
  void next.keep(shard);
  assert.deepEqual(await take(), ['a added', 'a flushed']);
});

test('a job has the same parts as long as it has shards under way, and new ones afterwards', async () => {
  const { parts, take } = noted();
  for (const _ of [1, 2]) {
    const [one, other] = [parts.hold(lease()), parts.hold(lease())];
    void one.keep(shard);
    assert.deepEqual(await take(), ['a opened', 'a added']);
    one.release();
    assert.deepEqual(await take(), []);
    other.release();
    assert.deepEqual(await take(), ['a flushed', 'a closed']);
  }
  // Parts for another coordinator's hand-over go elsewhere.
  const held = [lease(), lease('a', { handOver: 'http://x/1' }), lease('a', { handOver: 'http://x/2' })];
  for (const its of held) void parts.hold(its).keep(shard);
  assert.equal((await take()).filter((line) => line === 'a opened').length, 3);
});

test('a shard waits only if another is being computed and its results are to be written', async () => {
  const { parts, take } = noted();
  const waiting: string[] = [];
  const keep = (name: string, its: Lease) => {
    const held = parts.hold(its);
    return () => void held.keep(shard, () => waiting.push(name));
  };
  const [first, verified, last] = [
    keep('first', lease()),
    keep('verified', lease('a', { verify: true })),
    keep('last', lease('b')),
  ];
  for (const [next, expected] of [
    [first, ['first']],
    [verified, ['first']],
    [last, ['first']],
  ] as const) {
    next();
    await take();
    assert.deepEqual(waiting, expected);
  }
});

test('shards keep their credit once two full parts wait, by number or by bytes', async () => {
  const half = mostWaiting.bytes / Uint32Array.BYTES_PER_ELEMENT / 2;
  for (const [waiting, bins] of [
    [mostWaiting.shards, 1],
    [2, half],
  ] as const) {
    const { parts, take, written } = noted();
    const waits: number[] = [];
    const keep = async (nth: number, its = bins) => {
      void parts.hold(lease()).keep(shardOf(its), () => waits.push(nth));
      await take();
    };
    // This shard is being computed all the time.
    parts.hold(lease());
    for (let nth = 0; nth < waiting; nth++) await keep(nth);
    assert.equal(waits.length, waiting);
    await keep(waiting, 1);
    assert.equal(waits.length, waiting);
    for (const part of written) part.resolve(keptAs('p'));
    await keep(waiting + 1);
    assert.deepEqual(waits.slice(waiting), [waiting + 1]);
  }
});

test('results of a lease to verify are added up and not written', async () => {
  const { parts, take } = noted();
  await parts.hold(lease('a', { verify: true })).keep(shard);
  assert.deepEqual(await take(), ['a opened', 'a summed', 'a flushed']);
});

test('a part that cannot be written is an output error of its own shards only', async () => {
  const { parts, written, take, options } = noted({ opens: false });
  const isOutput = (sentence: string) => (error: Error) => {
    assert.deepEqual(
      [error.message, error instanceof OutputError],
      [`The results cannot be written: ${sentence}`, true],
    );
    return true;
  };
  const held = [1, 2, 3].map(() => parts.hold(lease()));
  await assert.rejects(held[0]!.keep(shard), isOutput('The folder is gone'));
  options.opens = true;
  const kept = [held[1]!.keep(shard), held[2]!.keep(shard)];
  await take();
  written[0]!.reject(new Error('No space left on device'));
  written[1]!.resolve(keptAs('p'));
  await assert.rejects(kept[0]!, isOutput('No space left on device'));
  assert.equal((await kept[1])!.found.part, 'p');
});
