import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unpackStep } from '../job/packed-frames.ts';
import { isRecorded, type PlannedStep, type PlanStep, type SourceRef } from '../job/shard.ts';
import { packPlan } from './pack-plan.ts';

/** The plan with frames packed, which comes in parts of some steps. */
async function packed(steps: readonly PlannedStep[]): Promise<PlannedStep[]> {
  const parts = async function* () {
    for (let from = 0; from < steps.length; from += 3) yield steps.slice(from, from + 3);
  };
  return (await Array.fromAsync(packPlan(parts()))).flat();
}

const fates = ['frame', 'frame', 'frame', 'frame', 'tile', 'unread', 'kept', 'other', 'free'] as const;

/** Files of those fates; batches close with the file that is too many for them, as those of a plan do. */
function planOf(
  files: readonly (typeof fates)[number][],
  batchFrames: number,
  notes: ReadonlySet<number>,
): PlannedStep[] {
  const steps: PlannedStep[] = [];
  let batch: SourceRef[] = [];
  let shards = 0;
  const close = (): void => {
    const work = { kind: 'frames' as const, sources: batch };
    if (batch.length > 0) steps.push({ kind: 'shard', shard: { shard: shards++, work, costBytes: 9 } });
    batch = [];
  };
  for (const [index, fate] of files.entries()) {
    const uri = `file:///in/${index % 3}/ü-${index}.jpg`;
    const version = fate === 'free' ? {} : { version: `${index} 17.25` };
    const source = { kind: 'source', index, uri, name: `ü-${index}.jpg`, ...version } as const;
    if (notes.has(index)) steps.push({ kind: 'note', text: String(index) });
    if (fate === 'unread') {
      steps.push({ ...source, tiles: 0 }, { kind: 'quarantine', index, stage: 'read', error: 'gone' });
    } else if (fate === 'kept') steps.push({ ...source, tiles: 1 }, { kind: 'kept', index, name: 'x' });
    else if (fate === 'tile') {
      const [size, rect] = [
        { width: 2, height: 1 },
        { x: 0, y: 0, width: 1, height: 1 },
      ];
      steps.push({ ...source, size, tiles: 2 });
      for (const x of [0, 1]) {
        const work = { kind: 'tile' as const, source: { index, uri }, size, rect: { ...rect, x } };
        steps.push({ kind: 'shard', shard: { shard: shards++, work, costBytes: 1 } });
      }
    } else {
      steps.push({ ...source, tiles: 1 });
      if (batch.length >= batchFrames) close();
      // Some were written to between their listing and their planning.
      const ref = fate === 'other' ? { version: 'another' } : version;
      batch.push({ index, uri, ...ref, ...(index < 2 && { preview: true }) });
    }
  }
  close();
  return [...steps, { kind: 'previews', chosen: [0] }];
}

const someFiles = fc.array(fc.constantFrom(...fates), { maxLength: 30 });

test('a packed plan stands for the same steps, and sources keep their order', async () => {
  const notes = fc.array(fc.nat(30)).map((numbers) => new Set(numbers));
  await fc.assert(
    fc.asyncProperty(someFiles, fc.integer({ min: 1, max: 6 }), notes, async (files, batchFrames, notes) => {
      const steps = planOf(files, batchFrames, notes);
      const made = await packed(steps);
      const unpacked = made.filter(isRecorded).flatMap(unpackStep);
      const plain = steps.filter(isRecorded);
      const ofKind = (all: PlanStep[], isSource: boolean) => all.filter(({ kind }) => (kind === 'source') === isSource);
      assert.deepEqual(ofKind(unpacked, true), ofKind(plain, true));
      assert.deepEqual(ofKind(unpacked, false), ofKind(plain, false));
      const planned = new Set<number>();
      for (const step of unpacked) {
        if (step.kind === 'source') planned.add(step.index);
        if (step.kind !== 'shard' || step.shard.work.kind !== 'frames') continue;
        assert.ok(step.shard.work.sources.every(({ index }) => planned.has(index)));
      }
      const told = (all: PlannedStep[]) => all.filter((step) => !isRecorded(step));
      assert.deepEqual(told(made), told(steps));
    }),
  );
});

test('frames that follow one another are packed, with what a shard must tell without reading them', async () => {
  const steps = planOf(['frame', 'frame', 'frame', 'frame', 'free'], 2, new Set());
  const works = (await packed(steps)).map((step) => {
    if (step.kind !== 'shard' || step.shard.work.kind !== 'packed') return step.kind;
    const { block: _, kind: __, ...outline } = step.shard.work;
    return outline;
  });
  const folder = (number: number) => `file:///in/${number}`;
  assert.deepEqual(works, [
    { first: 0, count: 2, isPinned: true, uri: `${folder(0)}/ü-0.jpg`, folders: [0, 1].map(folder), hasPreviews: true },
    {
      first: 2,
      count: 2,
      isPinned: true,
      uri: `${folder(2)}/ü-2.jpg`,
      folders: [2, 0].map(folder),
      hasPreviews: false,
    },
    { first: 4, count: 1, isPinned: true, uri: `${folder(1)}/ü-4.jpg`, folders: [folder(1)], hasPreviews: false },
    'previews',
  ]);
});

test('versions that nodes are not held to stay with their sources', async () => {
  const steps = planOf(['frame', 'frame'], 2, new Set()).map((step): PlannedStep => {
    if (step.kind !== 'shard' || step.shard.work.kind !== 'frames') return step;
    const sources = step.shard.work.sources.map(({ version: _, ...ref }) => ref);
    return { ...step, shard: { ...step.shard, work: { kind: 'frames', sources } } };
  });
  const [first] = await packed(steps);
  assert.ok(first?.kind === 'shard' && first.shard.work.kind === 'packed' && !first.shard.work.isPinned);
  assert.deepEqual(unpackStep(first), steps.slice(0, 3));
});

test('batches behind one that something else breaks into are packed', async () => {
  for (const other of ['unread', 'kept', 'tile'] as const) {
    const steps = planOf(['frame', other, ...Array<'frame'>(7).fill('frame')], 3, new Set());
    const shards = (await packed(steps)).flatMap((step) => (step.kind === 'shard' ? [step.shard.work] : []));
    const batches = shards.flatMap((work) =>
      work.kind === 'tile' ? [] : [[work.kind, work.kind === 'packed' ? work.count : work.sources.length]],
    );
    assert.deepEqual(
      batches,
      [
        ['frames', 3],
        ['packed', 3],
        ['packed', 2],
      ],
      other,
    );
  }
});
