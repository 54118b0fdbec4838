// A cluster without a shared folder, under faults: coordinators, database, object store and nodes have a machine each
// (see namespaces.ts), sources and outputs are in buckets. Everything is killed, stopped and cut off at random, and
// each job must end with the digest and the bytes of a quiet run. Takes HALOGRID_TEST_MINUTES; HALOGRID_TEST_SEED
// repeats a run's faults.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeVideo, noFfmpeg, videoKinds } from '@halogrid/imaging/testing-videos';
import { skipPostgres } from '@halogrid/ledger/testing-postgres-server';
import { BucketPrefix } from '@halogrid/sources';
import { skipRadosgw } from '@halogrid/sources/testing-radosgw';
import { eventually, pause, programLimitMs } from '@halogrid/testing';
import { SeededRandom } from '../apps/coordinator/src/testing/simulation/seeded-random.ts';
import { command } from './command.ts';
import { get } from './get.ts';
import { skipNamespaces } from './namespaces.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { sha256 } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import {
  describeMachineFault,
  disturbMachines,
  endAfter,
  type MachineFault,
  planMachineFaults,
} from './soak/machine-faults.ts';
import { Machines } from './soak/machines.ts';
import { writeTiledTiff } from './tiled-tiff.ts';

const minutes = Number(process.env.HALOGRID_TEST_MINUTES ?? 0);
const skip =
  (!(minutes > 0) && 'takes minutes: HALOGRID_TEST_MINUTES says how many') ||
  skipNamespaces ||
  skipRadosgw ||
  skipPostgres ||
  noFfmpeg;
const seed = Number(process.env.HALOGRID_TEST_SEED ?? randomInt(2 ** 31));
const maxLifeMs = minutes * 60_000 + 3 * programLimitMs;

const folder = scratchFolder();
const logs = process.env.HALOGRID_TEST_LOGS ?? folder;
let machines: Machines;

/** Jobs by name: words of `submit`. */
const works = {
  frames: ['s3://images/frames/', '--pipeline', 'codes=lbp', '--pipeline', 'slopes=ldp:order=2', '--batch', '2'],
  tiles: ['s3://images/tiles/image.tif', '--tile', '64', '--grid', '2x3', '--map', 'zarr'],
  recordings: ['s3://recordings/', '--batch', '12'],
} as const;
type Name = keyof typeof works;
const names = Object.keys(works) as Name[];

before(async () => {
  if (skip) return;
  const { network, machines: started } = await Machines.start();
  machines = started;
  await writeSources();
  await machines.startHalogrid(network, { logs, maxLifeMs });
});
after(() => machines?.remove());

async function writeSources(): Promise<void> {
  for (const name of ['images/frames', 'images/tiles', 'recordings'])
    mkdirSync(join(folder, name), { recursive: true });
  for (let i = 0; i < 40; i++) {
    await writePgm(join(folder, 'images/frames', `${i}.pgm`), drawPicture(90 + i, 70, i));
  }
  const tile = drawPicture(128, 128, 7);
  await writeTiledTiff(join(folder, 'images/tiles/image.tif'), { width: 512, height: 512 }, 128, () => tile);
  for (const kind of ['mjpeg.avi', 'h264.mp4']) makeVideo(join(folder, 'recordings', kind), videoKinds[kind]!, 96);
  await machines.store.createBucket('images');
  await machines.store.createBucket('recordings', 'recorder');
  await machines.store.createBucket('results');
  for (const bucket of ['images', 'recordings']) {
    const to = new BucketPrefix(`s3://${bucket}`);
    for (const file of readdirSync(join(folder, bucket), { recursive: true, withFileTypes: true })) {
      const path = join(file.parentPath, file.name);
      if (file.isFile()) await to.put(path.slice(folder.length + bucket.length + 2), readFileSync(path));
    }
  }
}

/** All of an output that does not depend on when and where it was made: the digest, and SHA-256 of its files. */
interface Outcome {
  digest: string;
  files: Record<string, string>;
}

async function submit(name: Name, out: string): Promise<string> {
  const words = ['submit', ...works[name], '--out', out, '--wait-for-node', '--coordinator', machines.addresses];
  const { code, stdout, stderr } = await command(words);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

/** The outcome of an output in a bucket; undefined until its job has ended. */
async function outcomeOf(out: string): Promise<Outcome | undefined> {
  const bucket = new BucketPrefix(out);
  const manifest = await bucket.get('job.json');
  if (!manifest) return undefined;
  const { state, digest, error, counts } = JSON.parse(manifest.toString());
  if (!/complete|failed|cancelled/.test(state)) return undefined;
  assert.equal(state, 'complete', `${out}: ${error}`);
  assert.equal(counts.quarantined, 0, out);
  const files: [string, string][] = [];
  for await (const { name } of bucket.list()) {
    // Manifests say when and where.
    if (name.startsWith('.halogrid/') || name.endsWith('job.json')) continue;
    files.push([name, sha256((await bucket.get(name))!)]);
  }
  return { digest, files: Object.fromEntries(files.sort()) };
}

/** Does all jobs while `meanwhile` runs; resolves with their outcomes. */
async function doJobs(prefix: string, meanwhile?: () => Promise<void>): Promise<Record<Name, Outcome>> {
  const ids = new Map<Name, string>();
  for (const name of names) ids.set(name, await submit(name, `s3://results/${prefix}/${name}`));
  await meanwhile?.();
  const ended = names.map(async (name): Promise<[Name, Outcome]> => {
    const id = ids.get(name)!;
    const outcome = await eventually(`job ${id} (${name}) to end`, async () => {
      const found = await outcomeOf(`s3://results/${prefix}/${name}`);
      if (!found) await failIfFailed(id);
      return found;
    });
    return [name, outcome];
  });
  return Object.fromEntries(await Promise.all(ended)) as Record<Name, Outcome>;
}

/** A failed job leaves no manifest in its bucket. */
async function failIfFailed(id: string): Promise<void> {
  // Each look costs the coordinator work.
  await pause(500);
  const answer = await get(`${machines.coordinators[0]!.http}/api/v1/jobs/${id}`).catch(() => undefined);
  const { job } = answer?.ok ? ((await answer.json()) as { job: { state: string; error: string } }) : {};
  assert.ok(!/FAILED|CANCELLED/.test(job?.state ?? ''), `Job ${id} is ${job?.state}: ${job?.error}`);
}

/** Copies an output into an index, on the disk of each coordinator. */
async function makeIndex(id: string): Promise<void> {
  const [copy, index] = [join(folder, 'copy'), join(folder, 'frames.index')];
  for (const words of [
    ['results', id, '--out', copy, '--coordinator', machines.addresses],
    ['index', copy, '--pipeline', 'codes', '--to', index],
  ]) {
    const { code, stderr } = await command(words);
    assert.equal(code, 0, stderr);
  }
  for (const { machine } of machines.coordinators)
    cpSync(index, machine.pathOf('/tmp/frames.index'), { recursive: true });
}

/** What a search finds; undefined if the coordinator cannot answer now. */
async function search(http: string): Promise<object[] | undefined> {
  const answer = await get(`${http}/api/v1/search?index=frames.index&row=7&top=12&distance=chi2`).catch(
    () => undefined,
  );
  const text = await answer?.text().catch(() => undefined);
  if (!answer || text === undefined) return undefined;
  assert.ok(answer.ok || answer.status === 429 || answer.status >= 500, `${answer.status}: ${text}`);
  if (!answer.ok) return undefined;
  const { results } = JSON.parse(text) as { results: { frame: { uri: string; row: number }; score: number }[] };
  // The address of a frame's picture holds a key of the coordinator.
  return results.map(({ frame, score }) => ({ uri: frame.uri, row: frame.row, score }));
}

test(`under faults for ${minutes} minutes (seed ${seed}) each job has the results of a quiet run`, {
  skip,
}, async (t) => {
  const quiet = await doJobs('quiet');
  const indexed = await submit('frames', 's3://results/indexed');
  await eventually('the job to index', () => outcomeOf('s3://results/indexed'));
  await makeIndex(indexed);
  const found = await search(machines.coordinators[0]!.http);
  assert.equal(found?.length, 12);

  const random = new SeededRandom(seed);
  const isOver = endAfter(minutes);
  let [rounds, searches] = [0, 0];
  const searching = (async () => {
    while (!isOver.aborted) {
      for (const { http } of machines.coordinators) {
        const answer = await search(http);
        if (answer === undefined) continue;
        assert.deepEqual(answer, found, 'a search under faults');
        searches++;
      }
      await pause(1_000);
    }
  })();
  searching.catch(() => {});
  const counts: Record<string, number> = {};
  while (!isOver.aborted) {
    const faults: MachineFault[] = planMachineFaults(random, [...machines.services.keys()]);
    const said = `round ${++rounds}, seed ${seed}: ${faults.map(describeMachineFault).join(', ')}`;
    t.diagnostic(said);
    for (const { kind, name } of faults) counts[`${kind} ${name}`] = (counts[`${kind} ${name}`] ?? 0) + 1;
    const outcomes = await doJobs(`round-${rounds}`, () => disturbMachines(machines.services, faults));
    assert.deepEqual(outcomes, quiet, said);
    await machines.healed();
  }
  await searching;
  assert.ok(searches > 0);
  t.diagnostic(`${rounds} rounds, ${3 * rounds} jobs, ${searches} searches; ${JSON.stringify(counts)}`);
  for (const node of machines.nodes) assert.deepEqual(node.ends, []);
  assert.deepEqual(await machines.stop(), []);
});
