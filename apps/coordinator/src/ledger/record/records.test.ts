import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PlanStep, SourceRef } from '../../job/shard.ts';
import { OpenBins } from '../../log/open-bins.ts';
import { DamagedLedgerError } from '../../registry/ledger-errors.ts';
import { decodeOpenSource, encodeOpenSource } from '../job-record.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { FrameVersions } from './frame-versions.ts';
import { Pieces } from './pieces.ts';
import { type ProgressRecord, ProgressWriter, readProgress } from './progress-record.ts';
import { seal, unseal } from './sealed.ts';
import { readSteps, StepWriter } from './step-record.ts';

const count = fc.oneof(fc.nat(300), fc.nat(), fc.maxSafeNat());
const index = fc.oneof(fc.nat(9), fc.nat());
const px = fc.integer({ min: 1, max: 2 ** 31 });
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }));
/** Plain objects, as they are read. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
const size = record({ width: px, height: px });
const imageSize = fc
  .tuple(size, fc.constantFrom(undefined, 'u8' as const, 'u16' as const))
  .map(([of, pixel]) => (pixel ? { ...of, pixel } : of));

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

const version = fc.constantFrom('12 1700000000000.25', '13 1700000000000.25', '"etag" 5');

/** Writes each group of steps as a journal does: a piece that grows, until it is long. */
function writePlan(plan: readonly PlanStep[][]): Map<number, Uint8Array> {
  const versions = new FrameVersions();
  const pieces = new Pieces((bytes) => new StepWriter(bytes, versions));
  const kept = new Map<number, Uint8Array>();
  for (const steps of plan) {
    for (const step of steps) pieces.writer.write(step);
    const piece = pieces.take();
    if (piece) kept.set(piece.key, piece.content.slice());
  }
  assert.deepEqual([...kept.keys()], [...Array(pieces.count).keys()]);
  return kept;
}

function readPlan(pieces: Map<number, Uint8Array>): PlanStep[] {
  const versions = new FrameVersions();
  return [...pieces.values()].flatMap((bytes) => [...readSteps(new ByteReader(bytes), (i) => `uri ${i}`, versions)]);
}

test('any plan is read as it was written, wherever a piece ends', () => {
  const uri = fc.oneof(
    text,
    fc.nat(99).map((i) => `file:///archive/frame-${i}.jpg`),
  );
  const timestampMs = fc.option(fc.oneof(count, fc.double({ min: 0, max: 1e9, noNaN: true, noDefaultInfinity: true })));
  const video = fc.option(record({ frame: index, timestampMs }));
  const source = record({
    index,
    uri,
    name: text,
    isNamedByEnd: fc.boolean(),
    size: fc.option(imageSize),
    tiles: fc.oneof(fc.constant(1), count),
    version: fc.option(version),
  });
  /** Mostly that of a source, and so mostly that of its own where few sources are. */
  const ofFrame = fc.option(fc.oneof({ weight: 5, arbitrary: version }, text)).map((version) => {
    return version === null ? {} : { version };
  });
  const preview = fc.constantFrom({}, {}, { preview: true as const });
  const refOf = ([index, version, preview]: [number, { version?: string }, { preview?: true }]) => {
    return { index, uri: `uri ${index}`, ...version, ...preview };
  };
  const place = fc
    .tuple(index, fc.option(index))
    .map(([packet, order]) => (order === null ? { packet } : { packet, order }));
  const segment = record({
    packet: index,
    position: index,
    size: index,
    strictFrom: index,
    end: index,
    version: text,
    hwaccel: text,
  });
  const step = fc.oneof(
    fc.tuple(source, video).map(([{ isNamedByEnd, size, name, version, ...rest }, video]): PlanStep => {
      const named = { kind: 'source', ...rest, name: isNamedByEnd ? rest.uri.slice(8) : name } as const;
      return { ...named, ...(size && { size }), ...(video && { video }), ...(version && { version }) };
    }),
    record({ kind: fc.constant('kept' as const), index, name: text }),
    record({
      shard: index,
      costBytes: count,
      segment,
      frames: fc.array(fc.tuple(place, fc.tuple(index, ofFrame, preview))),
    }).map(({ shard, costBytes, segment, frames }): PlanStep => {
      const sources = frames.map(([place, of]) => ({ ...refOf(of), place }));
      return { kind: 'shard', shard: { shard, work: { kind: 'frames', sources, segment }, costBytes } };
    }),
    record({ kind: fc.constant('quarantine' as const), index, stage: text, error: text }),
    record({ shard: index, costBytes: count, frames: fc.array(fc.tuple(index, ofFrame, preview)) }).map(
      ({ shard, costBytes, frames }): PlanStep => {
        const work = { kind: 'frames' as const, sources: frames.map(refOf) };
        return { kind: 'shard', shard: { shard, work, costBytes } };
      },
    ),
    record({
      shard: index,
      costBytes: count,
      source: index,
      version: fc.option(fc.oneof(text, fc.constant('12 1700000000000.5'))),
      size: imageSize,
      x: fc.nat(),
      y: fc.nat(),
      part: size,
      preview,
    }).map(({ shard, costBytes, source, version, size, x, y, part, preview }): PlanStep => {
      const work = {
        kind: 'tile' as const,
        source: refOf([source, version === null ? {} : { version }, preview]),
        size,
        rect: { x, y, ...part },
      };
      return { kind: 'shard', shard: { shard, work, costBytes } };
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.array(step)), (plan) => {
      assert.deepEqual(readPlan(writePlan(plan)), plan.flat());
    }),
  );
});

test('names that differ in the second half of a character are read as they were written', () => {
  const plan = ['😀', '😁', '😁😀', '😁'].map((uri, index): PlanStep => {
    return { kind: 'source', index, uri, tiles: 1, name: '' };
  });
  assert.deepEqual(readPlan(writePlan(plan.map((step) => [step]))), plan);
});

test('frames that have the versions of their sources take no more room for that, though a piece ends between', () => {
  const sources = Array.from({ length: 300 }, (_, index) => ({
    index,
    uri: `uri ${index}`,
    version: `${index} 17.25`,
  }));
  const listed = sources.map((source): PlanStep => ({ kind: 'source', name: source.uri, tiles: 1, ...source }));
  const batch = (of: SourceRef[]): PlanStep => {
    return { kind: 'shard', shard: { shard: 0, costBytes: 1, work: { kind: 'frames', sources: of } } };
  };
  const write = (of: SourceRef[]) => {
    const pieces = writePlan([listed.slice(0, 299), [listed[299]!, batch(of)]]);
    assert.deepEqual(readPlan(pieces), [...listed, batch(of)]);
    assert.equal(pieces.size, 2);
    return pieces.get(1)!.length;
  };
  const without = write(sources.map(({ index, uri }) => ({ index, uri })));
  assert.equal(write(sources), without);
  // One byte a frame says that it is that of its source; another is a text of so many bytes, and its length.
  const other = { ...sources[7]!, version: 'another' };
  assert.equal(write(sources.with(7, other)), without + sources.length + 1 + 'another'.length);
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
