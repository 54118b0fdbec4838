import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlannedStep, PlanStep } from '@halogrid/jobs/shard';
import { batchSteps, plannedSources } from '@halogrid/jobs/testing-planned';
import type { BlockSource } from '@halogrid/sources/source-block';
import fc from 'fast-check';
import { continuePlan } from './continue-plan.ts';

const uriOf = (index: number): string => `file:///in/${index}.pgm`;

/** A plan of frames, each with a shard of its own, except that frames in `unread` are set aside. */
function plan(frames: number, unread = new Set<number>(), from = 0, more: Partial<BlockSource> = {}): PlanStep[] {
  return Array.from({ length: frames }, (_, index): PlanStep[] => {
    const source = { index, uri: uriOf(index), ...more };
    const error = { stage: 'read', error: 'It is not there' };
    return unread.has(index)
      ? [{ kind: 'sources', sources: plannedSources([{ ...source, error }]) }]
      : batchSteps(from + index, [source]);
  }).flat();
}

async function* each<Step>(steps: Step[]): AsyncGenerator<Step> {
  yield* steps;
}

/** Yields some steps at a time. */
async function* chunked<Step>(steps: Step[], size = 3): AsyncGenerator<Step[]> {
  for (let i = 0; i < steps.length; i += size) yield steps.slice(i, i + size);
}

const rest = async (recorded: PlanStep[], planned: AsyncIterable<readonly PlannedStep[]>): Promise<PlannedStep[]> =>
  (await Array.fromAsync(continuePlan(each(recorded), planned))).flat();

/** The steps as a registry returns them. */
const recorded = (steps: PlanStep[]): PlanStep[] => structuredClone(steps);

test('a plan goes on after its recorded steps, wherever they end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(9), fc.nat(20), fc.array(fc.nat(9)), async (frames, cut, unread) => {
      const steps = plan(frames, new Set(unread));
      assert.deepEqual(await rest(recorded(steps.slice(0, cut)), chunked(steps)), steps.slice(cut));
    }),
  );
});

test('notes are not recorded, and come again', async () => {
  const steps = plan(3);
  const note = { kind: 'note' as const, text: 'Left out' };
  const noted: PlannedStep[] = steps.flatMap((step): PlannedStep[] => [note, step]);
  const told = await rest(recorded(steps.slice(0, 4)), chunked(noted));
  assert.deepEqual(told, [note, note, note, note, ...noted.slice(8)]);
});

test('a plan goes on even if frames were written to: the recorded versions count', async () => {
  const withVersions = (version: string, preview: Pick<BlockSource, 'preview'>) =>
    plan(4, undefined, 0, { version, pin: version, sizeBytes: version.length, ...preview });
  const [before, now] = [withVersions('1 17.25', { preview: true }), withVersions('22 18.5', {})];
  assert.deepEqual(await rest(recorded(before.slice(0, 4)), chunked(now)), now.slice(4));
});

test('an image in tiles must have the recorded version, and sources must be the same', async () => {
  const image = (more: Partial<BlockSource>): PlanStep[] => {
    const told = { index: 0, uri: uriOf(0), version: '1 1', pin: '1 1', tiles: 2, ...more };
    return [{ kind: 'sources', sources: plannedSources([told]) }];
  };
  const refused = { message: new RegExp(`'${uriOf(0)}' is planned in another way`) };
  assert.deepEqual(await rest(image({}), chunked(image({ version: '2 2', preview: true }))), []);
  for (const more of [{ pin: '2 2' }, { tiles: 3 }, { kept: 'a' }, { name: 'b' }, { uri: uriOf(1) }]) {
    await assert.rejects(rest(image({}), chunked(image(more))), refused);
  }
});

test('sources that have changed are named, and the planner is stopped', async () => {
  const table: [before: PlanStep[], now: PlanStep[], uri: string][] = [
    [plan(5), plan(3), uriOf(3)],
    [plan(5), plan(5, new Set([2])), uriOf(2)],
    [plan(5, new Set([2])), plan(5), uriOf(2)],
    [plan(5), plan(5, undefined, 1), uriOf(0)],
    [plan(1), [], uriOf(0)],
  ];
  for (const [before, now, uri] of table) {
    let isStopped = false;
    const planner = async function* () {
      try {
        yield* chunked(now);
      } finally {
        isStopped = true;
      }
    };
    await assert.rejects(Array.fromAsync(continuePlan(each(recorded(before)), planner())), {
      message: `The sources changed while the coordinator was away: '${uri}' is planned in another way; run the job again`,
    });
    assert.ok(isStopped);
  }
});
