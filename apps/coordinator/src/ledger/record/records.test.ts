import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { firstOf } from '../../job/planned-sources.ts';
import { SourceRuns } from '../../job/source-runs.ts';
import { OpenBins } from '../../log/open-bins.ts';
import { DamagedLedgerError } from '../../registry/ledger-errors.ts';
import { decodeOpenSource, encodeOpenSource } from '../job-record.ts';
import { StoredSources } from '../stored-sources.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { Pieces } from './pieces.ts';
import { type ProgressRecord, ProgressWriter, readProgress } from './progress-record.ts';
import { seal, unseal } from './sealed.ts';
import { readSteps, StepWriter, type StoredStep } from './step-record.ts';

const count = fc.oneof(fc.nat(300), fc.nat(), fc.maxSafeNat());
const index = fc.oneof(fc.nat(9), fc.nat());
const px = fc.integer({ min: 1, max: 2 ** 31 });
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }));
/** Plain objects, as they are read. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
const size = record({ width: px, height: px });

test('numbers and text are read as they were written, and an early end is noticed', () => {
  const value = fc.oneof(
    count.map((value) => ['uint', value] as const),
    fc.integer({ min: -(2 ** 52), max: 2 ** 52 }).map((value) => ['int', value] as const),
    text.map((value) => ['text', value] as const),
  );
  fc.assert(
    fc.property(fc.array(value, { minLength: 1 }), (values) => {
      const writer = new ByteWriter(1);
      for (const [kind, value] of values) writer[kind](value as never);
      const read = (bytes: Uint8Array) => {
        const reader = new ByteReader(bytes);
        return values.map(([kind]) => reader[kind]());
      };
      assert.deepEqual(
        read(writer.bytes),
        values.map(([, value]) => value),
      );
      assert.throws(() => read(writer.bytes.subarray(0, -1)), RangeError);
    }),
  );
});

/** Writes each group of steps as a journal does: a piece that grows, until it is long. */
function writePlan(plan: readonly StoredStep[][]): Map<number, Uint8Array> {
  const pieces = new Pieces((bytes) => new StepWriter(bytes));
  const kept = new Map<number, Uint8Array>();
  for (const steps of plan) {
    for (const step of steps) pieces.writer.write(step);
    const piece = pieces.take();
    if (piece) kept.set(piece.key, piece.content.slice());
  }
  assert.deepEqual([...kept.keys()], [...Array(pieces.count).keys()]);
  return kept;
}

const spool = { path: 'memory', read: () => new Uint8Array() };

function readPlan(pieces: Map<number, Uint8Array>): StoredStep[] {
  const planned = new Map<number, StoredSources>();
  return [...pieces.values()].flatMap((bytes) => {
    return Array.from(
      readSteps(new ByteReader(bytes), (source) => planned.get(source), spool),
      (step) => {
        if (step.kind === 'sources') planned.set(firstOf(step.sources), step.sources);
        return step;
      },
    );
  });
}

const told = (steps: readonly StoredStep[]): unknown[] =>
  steps.map((step) => {
    if (step.kind === 'sources') return { ...step.sources };
    return { ...step.shard, work: { ...step.shard.work, sources: firstOf(step.shard.work.sources) } };
  });

test('any plan is read as it was written, wherever a piece ends', () => {
  const segment = record({
    packet: index,
    position: index,
    size: index,
    strictFrom: index,
    end: index,
    version: text,
    hwaccel: text,
  });
  const sources = record({
    runs: fc.array(fc.tuple(fc.nat(9), fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 4 }),
    ...{ uri: text, folders: fc.array(text, { maxLength: 3 }), hasPreviews: fc.boolean(), isPlain: fc.boolean() },
    place: record({ offset: count, length: count }),
  });
  const work = fc.oneof(
    record({ kind: fc.constant('frames' as const), segment: fc.option(segment, { nil: undefined }) }),
    record({ kind: fc.constant('tile' as const), size, rect: fc.tuple(index, index, size) }),
  );
  const shard = record({ shard: index, costBytes: count, work });
  const group = fc.tuple(sources, fc.array(shard, { maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(fc.array(group)), (groups) => {
      let next = 0;
      const plan = groups.map((some) =>
        some.flatMap(([{ runs: drawn, place, ...outline }, shards]): StoredStep[] => {
          const runs = Float64Array.from(
            drawn.flatMap(([gap, length]) => {
              const first = next + gap;
              next = first + length + 1;
              return [first, length];
            }),
          );
          const { length } = new SourceRuns(runs);
          const its = new StoredSources({ ...outline, runs, count: length }, place, spool);
          return [
            { kind: 'sources', sources: its },
            ...shards.map(({ work, ...shard }): StoredStep => {
              if (work.kind === 'tile') {
                const [x, y, part] = work.rect;
                const tile = { kind: work.kind, size: work.size, rect: { x, y, ...part } };
                return { kind: 'shard', shard: { ...shard, work: { ...tile, sources: its } } };
              }
              const { kind, segment } = work;
              return { kind: 'shard', shard: { ...shard, work: { kind, sources: its, ...(segment && { segment }) } } };
            }),
          ];
        }),
      );
      assert.deepEqual(told(readPlan(writePlan(plan))), told(plan.flat()));
    }),
  );
});

test('a shard of sources that are not planned is refused', () => {
  const sources = new StoredSources(
    { runs: Float64Array.of(4, 2), count: 2, uri: '', folders: [], hasPreviews: false, isPlain: true },
    { offset: 0, length: 1 },
    spool,
  );
  const shard: StoredStep = { kind: 'shard', shard: { shard: 0, costBytes: 1, work: { kind: 'frames', sources } } };
  assert.throws(() => readPlan(writePlan([[shard]])), /^RangeError: Shard 0 is of source 4, which is not planned$/);
});

test('any progress is read as it was written', () => {
  const place = record({
    offset: fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 50 })),
    length: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
    checksum: fc.nat(2 ** 31),
  });
  const stored = record({
    runs: fc.array(fc.tuple(index, px), { maxLength: 5 }).map((runs) => Float64Array.from(runs.flat())),
    isTimed: fc.boolean(),
    offset: fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 50 })),
    countsBytes: fc.nat(),
    rowsBytes: fc.nat(),
    rowsChecksum: fc.nat(2 ** 31),
  });
  const digest = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
  const reason = record({ stage: text, error: text, attempts: index, shard: fc.integer({ min: -1, max: 2 ** 31 }) });
  const localMs = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
  const captureTime = fc.oneof(
    record({ localMs }),
    record({ localMs, offsetMinutes: fc.integer({ min: -1080, max: 1080 }) }),
  );
  const any: fc.Arbitrary<ProgressRecord> = fc.oneof(
    record({ kind: fc.constant('node' as const), name: text, device: text }),
    record({ kind: fc.constant('shard' as const), shard: index, node: index }),
    record({ kind: fc.constant('attempt' as const), shard: index, attempt: index }),
    fc
      .tuple(
        record({
          kind: fc.constant('done' as const),
          source: index,
          size,
          counted: count,
          digest,
          place: fc.option(place, { nil: undefined }),
        }),
        fc.constantFrom({}, { part: 1 }, { part: 7 }),
      )
      .map(([done, by]) => ({ ...done, ...by })),
    record({ kind: fc.constant('quarantined' as const), source: index, reason }),
    record({ kind: fc.constant('frames' as const), part: index, frames: stored }),
    record({ kind: fc.constant('captured' as const), source: index, time: captureTime }),
  );
  fc.assert(
    fc.property(fc.array(any), (records) => {
      const bytes = new ByteWriter();
      const writer = new ProgressWriter(bytes);
      for (const record of records) writer.write(record);
      assert.deepEqual([...readProgress(new ByteReader(bytes.bytes))], records);
    }),
  );
});

test('what came of an open source is read as it was written, and another number of bins is noticed', () => {
  const bins = fc.array(count, { minLength: 1 }).map((counts) => {
    const sums = new OpenBins(counts.length);
    sums.makeRoomFor(2 ** 53 - 1);
    sums.restore(0, counts);
    return sums;
  });
  const open = record({
    state: fc.constant('open' as const),
    tilesLeft: count,
    counted: count,
    pixels: fc.constant(2 ** 53 - 1),
    bins,
  });
  fc.assert(
    fc.property(open, (source) => {
      const content = encodeOpenSource(source, 0);
      const { length } = source.bins.sums;
      const read = decodeOpenSource(content, length);
      assert.deepEqual(read, { source, blocks: 0 });
      assert.deepEqual(read.source.bins!.sums, source.bins.sums);
      for (const other of [length - 1, length + 1]) {
        assert.throws(() => decodeOpenSource(content, other), RangeError);
      }
    }),
  );
});

test('a piece grows with each write until it is long, and then is left alone', () => {
  const pieces = new Pieces((bytes) => bytes);
  const take = (bytes: number): [key: number, length: number] | undefined => {
    pieces.writer.raw(new Uint8Array(bytes));
    const piece = pieces.take();
    return piece && [piece.key, piece.content.length];
  };
  assert.deepEqual([take(0), pieces.count], [undefined, 0]);
  assert.deepEqual([take(1000), take(1000), take(0), take(3000)], [[0, 1000], [0, 2000], undefined, [0, 5000]]);
  assert.deepEqual([take(9000), take(1), pieces.count], [[1, 9000], [2, 1], 3]);
  assert.deepEqual(new Pieces((bytes) => bytes, 7).count, 7);
});

test('a value that changed by a bit, or lies in the place of another, is refused', () => {
  const place = { jobId: 'job', kind: 'plan', key: 3 };
  const entry = seal(place, Uint8Array.of(1, 2, 3));
  assert.deepEqual(unseal(entry), Uint8Array.of(1, 2, 3));
  for (let bit = 0; bit < 8 * entry.value.length; bit++) {
    const value = entry.value.slice();
    value[bit >> 3]! ^= 1 << (bit & 7);
    assert.throws(() => unseal({ ...place, value }), DamagedLedgerError);
  }
  for (const other of [{ jobId: 'job-2' }, { kind: 'open' }, { key: 4 }, { value: entry.value.slice(0, 3) }]) {
    assert.throws(() => unseal({ ...entry, ...other }), /^DamagedLedgerError: The ledger is damaged: entry \d of kind/);
  }
});
