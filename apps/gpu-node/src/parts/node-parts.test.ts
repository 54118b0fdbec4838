import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FoundInPart, Lease } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { NodeParts } from './node-parts.ts';
import { OutputError } from './output-error.ts';

const creditBytes = 100;
const shard = { found: new Uint32Array(1) } as FoundShard;

/** Parts of which the test says when they are written, and what was asked of them. */
function noted() {
  const told: string[] = [];
  const written: PromiseWithResolvers<FoundInPart>[] = [];
  const parts = new NodeParts({
    creditBytes,
    open: ({ jobId }) => {
      told.push(`${jobId} opened`);
      return {
        add: () => {
          told.push(`${jobId} added`);
          written.push(Promise.withResolvers());
          return written.at(-1)!.promise;
        },
        sum: async () => {
          told.push(`${jobId} summed`);
          return FoundInPart.create({ found: 1 });
        },
        flush: () => void told.push(`${jobId} flushed`),
        close: async () => void told.push(`${jobId} closed`),
      };
    },
  });
  const take = () => told.splice(0);
  return { parts, take, written };
}

const lease = (jobId = 'a', costBytes = 1, more: Partial<Lease> = {}): Lease =>
  Lease.fromPartial({ jobId, costBytes, scratch: `file:///${jobId}`, ...more });

test('a part waits for more as long as another shard is at work, of frames or not, of whatever job', () => {
  const { parts, take } = noted();
  const [first, second, tile] = [parts.hold(lease('a')), parts.hold(lease('b')), parts.hold(lease('c'))];
  void first.keep(shard);
  void second.keep(shard);
  assert.deepEqual(take(), ['a opened', 'a added', 'b opened', 'b added']);
  tile.release();
  assert.deepEqual(take(), ['a flushed', 'b flushed']);
  // What has waited before it is done with is not at work any more.
  const next = parts.hold(lease('a'));
  first.release();
  second.release();
  assert.deepEqual(take(), ['b closed']);
  void next.keep(shard);
  assert.deepEqual(take(), ['a added', 'a flushed']);
});

test('a part ends where a quarter of the credit waits in it, whatever waits for other jobs', async () => {
  const { parts, take, written } = noted();
  const busy = parts.hold(lease('a'));
  const held = [12, 12, 1, 24].map((bytes, i) => [parts.hold(lease(i === 3 ? 'b' : 'a', bytes)), i] as const);
  const kept = held.map(([one]) => one.keep(shard));
  assert.deepEqual(take(), ['a opened', 'a added', 'a added', 'a added', 'a flushed', 'b opened', 'b added']);
  for (const { resolve } of written) resolve(FoundInPart.create());
  await Promise.all(kept);
  // What was written waits no more.
  void parts.hold(lease('a', 24)).keep(shard);
  assert.deepEqual(take(), ['a added']);
  busy.release();
});

test('a job has parts from its first shard on until it has none under way, and then others', () => {
  const { parts, take } = noted();
  for (const _ of [1, 2]) {
    const [one, other] = [parts.hold(lease()), parts.hold(lease())];
    void one.keep(shard);
    one.release();
    assert.deepEqual(take(), ['a opened', 'a added']);
    other.release();
    assert.deepEqual(take(), ['a flushed', 'a closed']);
  }
  // A job that another coordinator hands over is written elsewhere.
  const held = [lease(), lease('a', 1, { handOver: 'http://x/1' }), lease('a', 1, { handOver: 'http://x/2' })];
  for (const its of held) void parts.hold(its).keep(shard);
  assert.equal(take().filter((line) => line === 'a opened').length, 3);
});

test('what is found for a lease to verify is added up and written nowhere', async () => {
  const { parts, take } = noted();
  const found = await parts.hold(lease('a', 1, { verify: true })).keep(shard);
  assert.deepEqual([take(), found.found, found.part], [['a opened', 'a summed', 'a flushed'], 1, undefined]);
});

test('a part that cannot be written is an error of output, and of no other part', async () => {
  const { parts, written } = noted();
  const [one, other] = [parts.hold(lease()), parts.hold(lease())];
  const kept = [one.keep(shard), other.keep(shard)];
  written[0]!.reject(new Error('No space left on device'));
  written[1]!.resolve(FoundInPart.create({ part: 'p' }));
  await assert.rejects(kept[0]!, (error: Error) => {
    assert.ok(error instanceof OutputError);
    assert.equal(error.message, 'The results cannot be written: No space left on device');
    return true;
  });
  assert.equal((await kept[1])!.part, 'p');
});
