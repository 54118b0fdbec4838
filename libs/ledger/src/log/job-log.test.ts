import assert from 'node:assert/strict';
import { mkdtemp, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ToldSource } from '@halogrid/jobs/testing-planned';
import { cellsOf } from '@halogrid/kernels/grid';
import { packCounts } from '@halogrid/results/part-sums';
import { SourceBlock } from '@halogrid/sources/source-block';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { logFormat } from '../registry/ledger-errors.ts';
import type { LogMark } from '../registry/registry.ts';
import { storeState } from './checkpoint.ts';
import type { AnswerFact, PlannedFact, PlannedShard, TileFact } from './fact.ts';
import { packFact, readFact } from './fact-codec.ts';
import { FolderLogs } from './folder-logs.ts';
import { countLogs, JobLog } from './job-log.ts';
import { isOpen, reasonsOf, type UnfinishedImage } from './job-state.ts';
import { realDisk } from './log-file.ts';
import { foundImages } from './testing/found-images.ts';
import { otherFormat } from './testing/other-format.ts';
import { plannedFact } from './testing/planned-fact.ts';

const shape = { grid: { rows: 1, columns: 1 }, channels: 1, bins: 4 };
const shapes = [shape, { ...shape, bins: 3 }];
const uriOf = (source: number): string => `file:///in/${source}`;
const tileSize = { width: 4, height: 2 };
const tileRect = (nth: number) => ({ x: 4 * nth, y: 0, ...tileSize });

/** Made-up counts of a source, or of a tile of one. */
const binsOf = (seed: number, bins: number): number[] =>
  Array.from({ length: bins }, (_, i) => (seed * 7 + i * 3) % 200);
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** Sources and shards of a plan: frames, images of two tiles each, unreadable sources, and kept sources. */
interface Plan {
  sources: ('frame' | 'image' | 'unread' | 'kept')[];
  /** By number, with their sources. */
  shards: (PlannedShard & { sources: readonly number[] })[];
  /** One for each block. A batch is planned once it is full, when sources behind it may be planned already. */
  facts: PlannedFact[];
}

function planOf(sources: Plan['sources'], batch: number): Plan {
  const shards: Plan['shards'] = [];
  const facts: Plan['facts'] = [];
  const add = (told: readonly ToldSource[], works: readonly PlannedShard['work'][]): void => {
    const its = told.map(({ index }) => index);
    const fact = plannedFact(told, works, shards.length);
    facts.push(fact);
    shards.push(...fact.shards.map((shard) => ({ ...shard, sources: its })));
  };
  let frames: ToldSource[] = [];
  const flush = (): void => {
    if (frames.length > 0) add(frames, [{ kind: 'frames' }]);
    frames = [];
  };
  for (const [index, kind] of sources.entries()) {
    const source = { index, uri: uriOf(index) };
    if (kind === 'unread') add([{ ...source, error: { stage: 'read', error: 'No' } }], []);
    else if (kind === 'kept') add([{ ...source, kept: uriOf(index) }], [{ kind: 'kept', earlier: [index, index, 1] }]);
    else if (kind === 'frame') {
      if (frames.push(source) === batch) flush();
    } else {
      const tiles = [0, 1].map((nth) => {
        return { kind: 'tile' as const, size: { width: 8, height: 2 }, rect: tileRect(nth) };
      });
      add([{ ...source, tiles: 2 }], tiles);
    }
  }
  flush();
  facts.at(-1)!.isLast = true;
  return { sources, shards, facts };
}

const answered = (shard: number, broken: readonly number[]) => ({
  shard,
  attempt: 1,
  node: 1,
  mended: [],
  stageSeconds: { read: 1 },
  busySeconds: {},
  errors: broken.map((source) => ({ source, uri: uriOf(source), stage: 'decode', error: `Broken by ${shard}` })),
});

function foundOf(sources: readonly number[]) {
  const images = shapes.map(({ bins }) =>
    sources.map((source) => {
      const own = binsOf(source, bins);
      return { counted: sum(own), bins: own };
    }),
  );
  // The part is named by its sources.
  return { ...foundImages(shapes, images, 3000 * sources.length), part: sources.join() };
}

function answerTo(shard: number, planned: Plan['shards'][number], broken: readonly number[]): AnswerFact | TileFact {
  const { work, sources } = planned;
  const said = answered(shard, broken);
  const good = sources.filter((source) => !broken.includes(source));
  if (work.kind === 'kept') return { kind: 'answer', ...said, attempt: 0, node: 0, ...foundOf(good) };
  if (work.kind === 'frames') return { kind: 'answer', ...said, ...foundOf(good) };
  const source = planned.first;
  const parts = shapes.map(({ bins }) => {
    const own = binsOf(source + work.rect.x, bins);
    return { counted: sum(own), binCount: bins, bins: packCounts(own) };
  });
  const { size, rect } = work;
  return { kind: 'tile', ...said, source, size, rect, ...(good.length > 0 && { parts }) };
}

/** The done shards, each with the sources that were broken; undefined: the shard was given up. */
type Done = ReadonlyMap<number, readonly number[] | undefined>;

/** The expected outcome of each source. */
function expected({ sources, shards }: Plan, done: Done) {
  const all = sources.map((kind, source) => {
    if (kind === 'unread') return { state: 'quarantined', shard: -1 };
    const its = [...shards.keys()].filter((shard) => shards[shard]!.sources.includes(source));
    const ended = its.filter((shard) => done.has(shard));
    const bad = ended.filter((shard) => done.get(shard)?.includes(source) ?? true);
    if (bad.length > 0) return { state: 'quarantined', shard: Math.min(...bad) };
    const pixels = kind === 'image' ? 8 * ended.length : 3000;
    if (ended.length < its.length) return { state: 'open', pixels: kind === 'image' ? pixels : 0 };
    const seeds = kind === 'image' ? [source, source + 4] : [source];
    const bins = shapes.map((part) =>
      Array.from({ length: part.bins }, (_, i) => sum(seeds.map((seed) => binsOf(seed, part.bins)[i]!))),
    );
    return { state: 'done', pixels, bins };
  });
  const finished = all.flatMap(({ bins }) => (bins ? [bins] : []));
  return {
    all,
    frames: finished.length,
    pixels: sum(all.map(({ pixels = 0 }) => pixels)),
    totals: shapes.map((part, i) =>
      Array.from({ length: part.bins }, (_, bin) => sum(finished.map((own) => own[i]![bin]!))),
    ),
  };
}

const isKept = ({ shards }: Plan, shard: number): boolean => shards[shard]!.work.kind === 'kept';

/** How many of the done shards were for nodes. */
const byNodes = (plan: Plan, done: Done): number => [...done.keys()].filter((shard) => !isKept(plan, shard)).length;

/** Adds the fact of each image whose last tile has come, as the leader of the log does. */
function addWhole(log: JobLog): void {
  for (const [source, { tilesLeft, pixels, parts }] of [...log.state.open]) {
    if (tilesLeft > 0) continue;
    const images = parts.map(({ counted, bins }) => [{ counted, bins: [...bins.sums] }]);
    log.add({ kind: 'whole', source, ...foundImages(shapes, images, pixels), part: String(source) });
  }
}

/** The part that has a source, according to the log. */
function partOf(log: JobLog, source: number): string {
  const { index } = log.state;
  const { shard } = index.planned(source)!;
  const found = index.isWhole(source) ? index.whole(source)! : index.answer(shard!)!;
  return (log.read(found).fact as AnswerFact).part;
}

function check(log: JobLog, plan: Plan, done: Done): void {
  const { all, frames, pixels, totals } = expected(plan, done);
  const { state } = log;
  assert.deepEqual(
    [state.counts.frames, state.counts.pixels, state.counts.shardsDone],
    [frames, pixels, byNodes(plan, done)],
  );
  assert.deepEqual(
    state.parts.map(({ totals: { sums } }) => [...sums].map(Number)),
    totals,
  );
  assert.deepEqual(
    state.parts.map(({ counted }) => Number(counted)),
    totals.map(sum),
  );
  for (const [source, outcome] of all.entries()) {
    assert.equal(isOpen(state, source), outcome.state === 'open', `source ${source}`);
    assert.equal(state.quarantined.get(source)?.shard, outcome.shard, `source ${source}`);
    if (outcome.bins) assert.ok(partOf(log, source).split(',').includes(String(source)));
    const fact = log.read(state.index.planned(source)!.place!).fact;
    const { index, uri } = new SourceBlock((fact as PlannedFact).sources!.block).get(state.index.planned(source)!.nth);
    assert.deepEqual([index, uri], [source, uriOf(source)]);
  }
  const quarantined = all.filter((outcome) => outcome.state === 'quarantined').length;
  assert.equal(
    sum(
      reasonsOf(state)
        .list(uriOf)
        .map(({ inputs }) => inputs),
    ),
    quarantined,
  );
}

/** Whether the state of a log is exactly the state at a moment. */
function isAt({ state }: JobLog, plan: Plan, { planned, done }: { planned: number; done: Done }): boolean {
  const sources = plan.facts.slice(0, planned).flatMap((fact) => [...new SourceBlock(fact.sources!.block)]);
  if (state.index.sources !== sources.length || state.counts.shardsDone !== byNodes(plan, done)) return false;
  const { all } = expected(plan, done);
  return sources.every(({ index }) => {
    const outcome = all[index]!;
    return isOpen(state, index) === (outcome.state === 'open') && state.quarantined.get(index)?.shard === outcome.shard;
  });
}

/** Files on a disk that may be full: `room` bytes are left. */
class Disk {
  room = Number.POSITIVE_INFINITY;
  readonly open = async (path: string, flags: string) => {
    const file = await open(path, flags);
    return {
      writev: async (pieces: readonly Uint8Array[], at: number) => {
        const some: Uint8Array[] = [];
        for (const piece of pieces) {
          some.push(piece.subarray(0, Math.min(this.room, piece.length)));
          this.room -= some.at(-1)!.length;
        }
        const written = await file.writev(some, at);
        if (written.bytesWritten > 0) return written;
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      },
      datasync: () => file.datasync(),
      close: () => file.close(),
    };
  };
}

type Step =
  | { kind: 'plan' }
  | { kind: 'shard'; pick: number; broken: number; fate: 'answered' | 'given up' }
  | { kind: 'withdrawn'; pick: number }
  | { kind: 'append' }
  | { kind: 'full disk'; room: number }
  /** With `room`: it crashes while it writes the waiting facts, with so many bytes left on the disk. */
  | { kind: 'crash'; room: number | undefined }
  | { kind: 'passed over' };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('shard' as const),
        pick: fc.nat(),
        broken: fc.nat(),
        fate: fc.constantFrom('answered' as const, 'answered' as const, 'given up' as const),
      }),
    },
    { weight: 3, arbitrary: fc.constant({ kind: 'plan' as const }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdrawn' as const), pick: fc.nat() }) },
    { weight: 3, arbitrary: fc.constant({ kind: 'append' as const }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('full disk' as const), room: fc.nat(3000) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('crash' as const),
        room: fc.option(fc.nat(5000), { nil: undefined }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'passed over' as const }) },
  ),
  { minLength: 20, maxLength: 60, size: 'max' },
);

describe('a job in logs', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'halogrid-job-log-'));
  });
  after(() => rm(folder, { recursive: true }));
  const newFolder = (): Promise<string> => mkdtemp(join(folder, 'job-'));

  it('is what its facts say, even if disks fill up and leaders die, or wake up and go on writing', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.constantFrom('frame' as const, 'frame' as const, 'image' as const, 'unread' as const, 'kept' as const),
          {
            minLength: 3,
            maxLength: 16,
            size: 'max',
          },
        ),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(1, 1000, 4000, 2 ** 20),
        fc.boolean(),
        steps,
        async (sources, batch, groupBytes, hasRegistry, todo) => {
          const plan = planOf(sources, batch);
          const disk = new Disk();
          const place = new FolderLogs(await newFolder(), 'job', { ...realDisk, open: disk.open });
          let epoch = 1;
          const options = () => ({ place, epoch: epoch++, shapes, checkpointBytes: 2000, groupBytes });
          let log = JobLog.create(options(), 5);
          const { facts } = plan;
          let planned = 0;
          log.add({ kind: 'node', name: 'node', device: 'cpu' });
          await log.append();
          let done = new Map<number, readonly number[] | undefined>();
          /** The marks that were acknowledged, as a registry knows them. */
          let counts: readonly LogMark[] = log.marks;
          /** The state at that time, and after each fact since. */
          let moments = [{ planned, done: new Map(done) }];
          const acknowledge = (): void => {
            counts = log.marks;
            moments = moments.slice(-1);
          };
          const opened = [log];
          for (const step of todo) {
            const left = [...plan.shards.keys()].filter((shard) => shard < log.state.index.shards && !done.has(shard));
            if (step.kind === 'plan' && planned < facts.length) log.add(facts[planned++]!);
            else if (step.kind === 'shard' && left.length > 0) {
              const shard = left[step.pick % left.length]!;
              const its = plan.shards[shard]!.sources;
              const broken = isKept(plan, shard) ? [] : its.filter((_, i) => (step.broken >> i) % 3 === 1);
              const isGivenUp = step.fate === 'given up' && !isKept(plan, shard);
              if (isGivenUp) log.add({ kind: 'given-up', shard, attempts: 3, errors: answered(shard, its).errors });
              else {
                log.add(answerTo(shard, plan.shards[shard]!, broken));
                addWhole(log);
              }
              done.set(shard, isGivenUp ? undefined : broken);
            } else if (step.kind === 'withdrawn') {
              const shards = [...done.keys()].filter((at) => done.get(at) && plan.shards[at]!.work.kind !== 'tile');
              if (shards.length === 0) continue;
              const shard = shards[step.pick % shards.length]!;
              const { attempt, node, found, pixels, parts, errors, mended } = answerTo(
                shard,
                plan.shards[shard]!,
                done.get(shard)!,
              ) as AnswerFact;
              log.add({ kind: 'withdrawn', shard, attempt, node, found, pixels, parts, errors, mended });
              done.delete(shard);
            } else if (step.kind === 'append') {
              await log.append();
              acknowledge();
            } else if (step.kind === 'full disk') {
              disk.room = step.room;
              const failure = await log.append().catch((error: Error) => error);
              disk.room = Number.POSITIVE_INFINITY;
              if (failure) assert.match(failure.message, /^The log '.*' could not be written: ENOSPC/);
              else acknowledge();
            } else if (step.kind === 'crash' || step.kind === 'passed over') {
              const before = log;
              if (step.kind === 'crash' && step.room !== undefined) {
                disk.room = step.room;
                await before.append().catch(() => {});
                disk.room = Number.POSITIVE_INFINITY;
              }
              const marks = step.kind === 'crash' && !hasRegistry ? await countLogs(place) : counts;
              log = await JobLog.takeOver(options(), marks!);
              // The group with the last tile of an image may have been full.
              addWhole(log);
              opened.push(log);
              // Without a registry, facts that were not acknowledged may count, if all facts before them do.
              const isSo = (moment: (typeof moments)[number]): boolean => isAt(log, plan, moment);
              const at = marks === counts ? 0 : moments.findIndex(isSo);
              assert.ok(at >= 0 && isSo(moments[at]!), 'the state is not one of the earlier ones');
              ({ planned } = moments[at]!);
              done = new Map(moments[at]!.done);
              moments = [moments[at]!];
              if (marks !== counts) counts = marks!;
              if (step.kind === 'crash') continue;
              // The earlier leader does not know of its successor, and writes both before and after the successor's
              // first write.
              await before.append();
              await log.append();
              before.add({ kind: 'notes', notes: ['I am late'] });
              await before.append();
              acknowledge();
            }
            moments.push({ planned, done: new Map(done) });
          }
          for (const fact of facts.slice(planned)) log.add(fact);
          await log.append();
          check(log, plan, done);
          const again = await JobLog.takeOver(options(), (await countLogs(place))!);
          check(again, plan, done);
          assert.deepEqual(again.state.notes, []);
          assert.deepEqual(said(again), said(log));
          for (const one of opened) await one.close();
        },
      ),
      { numRuns: runs(150) },
    ));

  /** The state as bytes: equal for equal states. */
  const said = ({ state }: JobLog): string => {
    return Buffer.from(packFact({ kind: 'checkpoint', logs: [], state: storeState(state) })).toString('hex');
  };

  const countsOf = ({ counted, bins }: UnfinishedImage['parts'][number]) => [counted, ...bins.sums];

  it('has checkpoints that do not grow with the bins of open images', async () => {
    const lengths: number[] = [];
    for (const columns of [2, 2 ** 18]) {
      const place = new FolderLogs(await newFolder(), 'job');
      const wide = [{ ...shape, grid: { rows: 1, columns } }];
      const log = JobLog.create({ place, epoch: 1, shapes: wide, checkpointBytes: 1 }, 5);
      log.add({ kind: 'node', name: 'node', device: 'cpu' });
      await log.append();
      // A checkpoint follows as many bytes as the last one had.
      for (const notes of [['n'.repeat(10_000)], []]) log.add({ kind: 'notes', notes });
      const plan = planOf(['image'], 1);
      for (const fact of plan.facts) log.add(fact);
      await log.append();
      const tile = answerTo(0, plan.shards[0]!, []) as TileFact;
      const cells = cellsOf(wide[0]!.grid, tile.size, tile.rect).length;
      const bins = Array.from({ length: 4 * cells }, (_, bin) => bin % 7);
      log.add({ ...tile, parts: [{ counted: sum(bins), binCount: bins.length, bins: packCounts(bins) }] });
      await log.append();
      const last = (await place.last(1))!;
      assert.deepEqual(
        last.facts.map((fact) => readFact(fact).kind),
        ['tile', 'checkpoint'],
      );
      lengths.push(last.facts[1]!.length);
      const again = await JobLog.takeOver({ place, epoch: 2, shapes: wide }, log.marks);
      const { parts, ...image } = log.state.open.get(0)!;
      const { parts: counted, ...other } = again.state.open.get(0)!;
      assert.deepEqual(other, image);
      assert.deepEqual(counted.map(countsOf), parts.map(countsOf));
      await log.close();
    }
    assert.ok(Math.abs(lengths[1]! - lengths[0]!) < 100, `checkpoints of ${lengths} bytes`);
  });

  it('is refused if a byte that counts has changed, or a log is missing', async () => {
    const path = await newFolder();
    const place = new FolderLogs(path, 'job');
    const log = JobLog.create({ place, epoch: 3, shapes }, 5);
    log.add({ kind: 'notes', notes: ['before'] });
    await log.append();
    log.add({ kind: 'notes', notes: ['after'] });
    await log.append();
    await log.close();
    assert.deepEqual(await readdir(path), ['log-3']);
    const file = join(path, 'log-3');
    const whole = await readFile(file);
    for (const at of [30, whole.length - 3]) {
      const changed = Buffer.from(whole);
      changed[at]! ^= 4;
      await writeFile(file, changed);
      await assert.rejects(JobLog.takeOver({ place, epoch: 4, shapes }, log.marks), { name: 'DamagedLogError' });
    }
    await writeFile(file, whole);
    const other = new FolderLogs(path, 'another job');
    await assert.rejects(JobLog.takeOver({ place: other, epoch: 4, shapes }, log.marks), { name: 'DamagedLogError' });
    assert.equal(await countLogs(other), undefined);
    await rm(file);
    const missing = { name: 'DamagedLogError', message: `The log '${file}' is missing` };
    await assert.rejects(JobLog.takeOver({ place, epoch: 4, shapes }, log.marks), missing);
    assert.throws(() => place.read(3, 0, 1), {
      name: 'DamagedLogError',
      message: /was deleted or replaced while in use/,
    });
    await rm(path, { recursive: true });
    await assert.rejects(JobLog.takeOver({ place, epoch: 4, shapes }, log.marks), { code: 'ENOENT' });
    assert.throws(() => place.read(3, 0, 1), { code: 'ENOENT' });
  });

  it('is refused if a version with another format wrote it', async () => {
    const refusals: [format: number | undefined, error: object][] = [
      [
        undefined,
        {
          name: 'OlderLedgerError',
          message: `The log of epoch 1 was written by an older version (format 5, this is ${logFormat}): finish its jobs with that version, then remove it`,
        },
      ],
      [
        logFormat + 1,
        {
          message: `The log of epoch 1 is of format ${logFormat + 1} and this halogrid knows formats up to ${logFormat}`,
        },
      ],
    ];
    for (const [format, error] of refusals) {
      const place = new FolderLogs(await newFolder(), 'job');
      const log = await place.begin(1);
      const { end } = await log.append(otherFormat(format), true);
      await log.close();
      await assert.rejects(countLogs(place), error);
      await assert.rejects(JobLog.takeOver({ place, epoch: 2, shapes }, [{ epoch: 1, bytes: end }]), error);
    }
  });

  it('is refused if the log of an earlier leader is missing or cut', async () => {
    const path = await newFolder();
    const place = new FolderLogs(path, 'job');
    const first = JobLog.create({ place, epoch: 1, shapes }, 5);
    await first.append();
    const second = await JobLog.takeOver({ place, epoch: 2, shapes }, first.marks);
    await second.append();
    for (const log of [first, second]) await log.close();
    const file = join(path, 'log-1');
    const { length } = await readFile(file);
    await truncate(file, length - 1);
    const cut = { message: `The log '${file}' has ${length - 1} bytes, but ${length} were written` };
    await assert.rejects(JobLog.takeOver({ place, epoch: 3, shapes }, second.marks), cut);
    await rm(file);
    const missing = { name: 'DamagedLogError', message: `The log '${file}' is missing` };
    await assert.rejects(JobLog.takeOver({ place, epoch: 3, shapes }, second.marks), missing);
  });
});
