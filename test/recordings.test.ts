// Many short recordings, and one long one: which processes decode them, the results, and the memory of a node
// meanwhile.
import assert from 'node:assert/strict';
import { linkSync, mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeVideo, noFfmpeg, runFfmpeg, videoKinds } from '@halogrid/imaging/testing-videos';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { Cluster } from './cluster.ts';
import { lookWhile } from './look-while.ts';
import { hasProc, residentBytes } from './process-list.ts';
import { readErrors, readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { repetitions } from './thorough.ts';

const scratch = scratchFolder();
const skip = noFfmpeg || (hasProc ? false : 'processes are told by /proc');
let cluster: Cluster;

before(async () => {
  if (!skip) cluster = await Cluster.start();
});
after(() => cluster?.stop());

/** Processes that the node has started, which are its decoders. */
const decodersOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

interface Row {
  source: string;
  frame: number;
  captured_at: Date | null;
}

test('one long recording is decoded by as many processes as there are cores', { skip }, async () => {
  const path = join(scratch, 'long.mp4');
  const frames = 1500;
  makeVideo(path, videoKinds['h264.mp4']!, frames);
  const out = join(scratch, 'of-long');
  const jobId = await cluster.jobs.submit({ sources: [path], out });
  const [node] = cluster.nodes;
  // Decoders stay for a while, and free ones are used first, so their number is the most that worked at once.
  let most = 0;
  const { state, counts } = await lookWhile(cluster.jobs.untilEnded(jobId), () => {
    most = Math.max(most, decodersOf(node!.pid).length);
  });
  assert.deepEqual([state, counts!.frames, counts!.quarantined], ['JOB_STATE_COMPLETE', frames, 0]);
  assert.equal(most, Math.min(availableParallelism(), counts!.shards));
});

// HALOGRID_TEST_RECORDINGS=10000 is an archive of some months.
const recordings = repetitions('HALOGRID_TEST_RECORDINGS', 60, 200);

test(`${recordings} short recordings in folders by day and camera, some with only sound`, {
  skip,
}, async (t) => {
  const clip = join(scratch, 'clip.mp4');
  const frames = 6;
  makeVideo(clip, videoKinds['h264.mp4']!, frames);
  const sound = join(scratch, 'sound.mp4');
  runFfmpeg(['-f', 'lavfi', '-i', 'sine=d=1', sound]);
  const cameras = 3;
  const perFolder = 20;
  const archive = join(scratch, 'archive');
  const begins: number[] = [];
  for (let i = 0; i < recordings; i++) {
    const folder = Math.floor(i / perFolder);
    const began = new Date(Date.UTC(2026, 0, 1 + Math.floor(folder / cameras), 8, 0, 10 * (i % perFolder)));
    const [day, time] = began.toISOString().replaceAll(/[-:]/g, '').slice(0, 15).split('T');
    const path = join(archive, day!, `cam${1 + (folder % cameras)}`);
    mkdirSync(path, { recursive: true });
    linkSync(i === 7 ? sound : clip, join(path, `${time}.mp4`));
    if (i !== 7) begins.push(began.getTime());
  }
  const out = join(scratch, 'of-archive');
  const [node] = cluster.nodes;
  const captured = ['--captured-from', '%Y%m%d/{camera}/%H%M%S', '--captured-zone', 'UTC'];
  const residents: number[] = [];
  const running = cluster.halogrid(['run', archive, ...captured, '--out', out]);
  const ended = await lookWhile(running, () => residents.push(residentBytes(node!.pid) ?? 0));
  assert.equal(ended.code, 3, ended.stderr);

  const rows = (await parquetReadObjects({ file: await asyncBufferFromFile(join(out, 'features.parquet')) })) as Row[];
  assert.deepEqual(
    rows.map(({ frame, captured_at }) => [frame, captured_at?.getTime()]),
    begins.flatMap((beganMs) => Array.from({ length: frames }, (_, frame) => [frame, beganMs + 40 * frame])),
  );
  assert.deepEqual(
    readErrors(out).map(({ uri, error }) => [uri.endsWith('/080110.mp4'), error]),
    [[true, 'The file has no video: it has sound or other streams only']],
  );
  const ofClip = join(scratch, 'of-clip');
  assert.equal((await cluster.halogrid(['run', clip, '--out', ofClip])).code, 0);
  assert.deepEqual(
    readHistogram(out).bins,
    readHistogram(ofClip).bins.map((count) => count * (recordings - 1)),
  );
  assert.equal(readJson(out, 'job.json').counts.frames, frames * (recordings - 1));

  assert.ok(decodersOf(node!.pid).length <= availableParallelism());
  // By half of the time, everything has been done at least once.
  const half = residents[Math.floor(residents.length / 2)] ?? 0;
  const last = residents.at(-1) ?? 0;
  t.diagnostic(`the node had ${Math.round(half / 1e6)} MB half-way and ${Math.round(last / 1e6)} MB at the end`);
  assert.ok(last - half < 100e6, `${half} bytes, then ${last}`);
});
