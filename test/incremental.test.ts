import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeVideo, noFfmpeg, runFfmpeg, videoKinds } from '@halogrid/imaging/testing-videos';
import { readyOutput } from '@halogrid/results/publish-output';
import { eventually, pause, repeated } from '@halogrid/testing';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import type { ServingCluster } from './cluster.ts';
import { command } from './command.ts';
import { Halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hasProc } from './process-list.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';
import { hasChunks } from './unfinished.ts';

// The same command on a grown archive computes only new inputs, and its output is the same as of a run from scratch.

const folder = scratchFolder();
let cluster: ServingCluster;
before(async () => {
  cluster = await sharedCluster();
});
after(() => cluster?.stop());

interface Changes {
  kept: number;
  new: number;
  changed: number;
  extended: number;
  again: number;
  removed: number;
}

/** Runs to the end; resolves with its report about the earlier run, and with stderr. */
async function run(args: readonly string[], code = 0): Promise<{ changes: Changes | undefined; stderr: string }> {
  const ended = await cluster.halogrid(['run', ...args, '--json']);
  assert.equal(ended.code, code, ended.stderr);
  return { changes: JSON.parse(ended.stdout).incremental, stderr: ended.stderr };
}

/** Asserts that a folder holds the same as a run from scratch gives. */
async function assertAsFresh(out: string, args: readonly string[], code = 0): Promise<void> {
  const fresh = `${out}-fresh`;
  rmSync(fresh, { recursive: true, force: true });
  await run([...args, '--out', fresh], code);
  assertSame(out, fresh);
}

/** Asserts that two folders hold the same results. */
function assertSame(out: string, fresh: string): void {
  const [is, was] = [out, fresh].map((path) => readJson(path, 'job.json'));
  assert.equal(is.digest, was.digest);
  assert.deepEqual(is.sources, was.sources);
  const [files, expected] = [hashFiles(out), hashFiles(fresh)];
  for (const hashes of [files, expected]) {
    for (const name of Object.keys(hashes)) if (/(^|\/)job\.json$/.test(name)) delete hashes[name];
  }
  assert.deepEqual(files, expected);
}

const changesOf = (changes: Changes | undefined): number[] => {
  const { kept, new: fresh, changed, again, removed } = changes!;
  return [kept, fresh, changed, again, removed];
};

test('a grown folder: what is new, changed, quarantined or gone, and nothing else', async () => {
  const source = join(folder, 'source');
  mkdirSync(source);
  for (let i = 0; i < 25; i++) await writePgm(join(source, `${i}.pgm`), drawPicture(20 + i, 30, i));
  writeFileSync(join(source, 'bad.png'), 'no picture');
  const out = join(folder, 'out');
  const job = [source, '--map', 'tiff', '--grid', '2x2'];
  const first = await run([...job, '--out', out], 3);
  assert.equal(first.changes, undefined);
  const second = await run([...job, '--out', out], 3);
  assert.deepEqual(changesOf(second.changes), [25, 0, 0, 1, 0]);

  await writePgm(join(source, '30.pgm'), drawPicture(40, 30, 3));
  await writePgm(join(source, '24.pgm'), drawPicture(44, 30, 9));
  rmSync(join(source, '23.pgm'));
  const previewsBefore = new Set(readdirSync(join(out, 'preview')));
  const plan = await command(['plan', ...job, '--out', out, '--json']);
  const third = await run([...job, '--out', out], 3);
  // If the removed source had a preview, another source gets one instead. It is computed again for that, unless it is
  // computed anyway.
  const newPreviews = new Set(readdirSync(join(out, 'preview'))).difference(previewsBefore);
  const instead = [...newPreviews].filter((name) => /^\d+\.png$/.test(name) && !/^(24|30)\./.test(name)).length;
  assert.deepEqual([JSON.parse(plan.stdout).sources, JSON.parse(plan.stdout).kept], [26, 23 - instead]);
  assert.deepEqual(changesOf(third.changes), [23 - instead, 1, 1, 1 + instead, 1]);
  assert.match(third.stderr, /^Changed since the last run: file:.*\/24\.pgm$/m);
  assert.match(third.stderr, /^Removed since the last run: file:.*\/23\.pgm$/m);
  await assertAsFresh(out, job, 3);

  const other = await cluster.halogrid(['run', source, '--map', 'tiff', '--out', out]);
  assert.equal(other.code, 2);
  assert.match(other.stderr, /holds the results of another job \(\S+\): --grid is 1x1 and was 2x2\. .*another --out/);
  const fresh = await run([...job, '--out', out, '--fresh'], 3);
  assert.equal(fresh.changes, undefined);
  assertSame(out, `${out}-fresh`);
});

test('maps can be added to the results in a folder, with the same output as if they had been asked for at first', async () => {
  const source = join(folder, 'mapless');
  mkdirSync(source);
  for (let i = 0; i < 3; i++) await writePgm(join(source, `${i}.pgm`), drawPicture(20 + i, 30, i));
  const out = join(folder, 'mapless-out');
  await run([source, '--out', out]);
  const { id } = readJson(out, 'job.json');
  const added = await run([source, '--map', 'png', '--out', out]);
  assert.deepEqual(changesOf(added.changes), [0, 0, 0, 3, 0]);
  const what = `The results of job ${id} in the folder have no maps: every source is computed again`;
  assert.ok(added.stderr.split('\n').includes(what), added.stderr);
  await assertAsFresh(out, [source, '--map', 'png']);
  const again = await run([source, '--map', 'png', '--out', out]);
  assert.deepEqual(changesOf(again.changes), [3, 0, 0, 0, 0]);
  assert.match(again.stderr, /^Page: \S+\n$/);
  const less = await cluster.halogrid(['run', source, '--out', out]);
  assert.match(less.stderr, /: --map is none and was png\. /);
});

test('another pipeline can be added to a folder, and only it computes the earlier frames', async () => {
  const source = join(folder, 'edgeless');
  mkdirSync(source);
  for (let i = 0; i < 30; i++) await writePgm(join(source, `${i}.pgm`), drawPicture(20 + i, 30, i));
  const out = join(folder, 'edgeless-out');
  const codes = ['--pipeline', 'codes=lbp'];
  const both = ['--pipeline', 'edges=ldp', ...codes];
  await run([source, ...codes, '--out', out]);
  const { id } = readJson(out, 'job.json');
  await writePgm(join(source, '30.pgm'), drawPicture(40, 30, 3));
  const what = `The results of job ${id} in the folder have no pipeline 'edges': every source is read again, but only the added pipeline is computed`;
  const plan = await command(['plan', source, ...both, '--out', out]);
  assert.ok(`${plan.stdout}${plan.stderr}`.includes(what), `${plan.stdout}${plan.stderr}`);
  const added = await run([source, ...both, '--out', out]);
  // The 20 frames with a preview are computed by all pipelines; one of them may be the new frame.
  const { extended } = added.changes!;
  assert.ok(extended === 10 || extended === 11, String(extended));
  assert.deepEqual(changesOf(added.changes), [0, 1, 0, 30 - extended, 0]);
  assert.ok(added.stderr.split('\n').includes(what), added.stderr);
  await assertAsFresh(out, [source, ...both]);
  const again = await run([source, ...both, '--captured-zone', 'UTC', '--out', out]);
  assert.deepEqual(changesOf(again.changes), [31, 0, 0, 0, 0]);
  await assertAsFresh(out, [source, ...both, '--captured-zone', 'UTC']);
  const less = await cluster.halogrid(['run', source, ...codes, '--out', out]);
  assert.match(less.stderr, /: --pipeline edges is not given and was ldp/);
});

test('results of another version are computed again, with a reason', async () => {
  const source = join(folder, 'older');
  mkdirSync(source);
  for (let i = 0; i < 3; i++) await writePgm(join(source, `${i}.pgm`), drawPicture(30, 30, i));
  const out = join(folder, 'older-out');
  const job = [source, '--map', 'tiff'];
  await run([...job, '--out', out]);
  const { resultsVersion, version } = readJson(out, 'job.json');
  // An output as an earlier version with a fault wrote it.
  const lines = readFileSync(join(out, 'sources.jsonl'), 'utf8');
  const [head, ...rest] = lines.split('\n');
  const { resultsVersion: its, ...older } = JSON.parse(head!);
  assert.deepEqual([its, older.halogrid], [resultsVersion, version]);
  writeFileSync(join(out, 'sources.jsonl'), [JSON.stringify(older), ...rest].join('\n'));
  const plan = await command(['plan', ...job, '--out', out, '--json']);
  assert.equal(JSON.parse(plan.stdout).kept, 0);
  const again = await run([...job, '--out', out]);
  assert.equal(again.changes, undefined);
  const why = `The earlier output was made by results version 1; this is ${resultsVersion}: everything is computed again.`;
  assert.ok(again.stderr.split('\n').includes(why), again.stderr);
  const written = readJson(out, 'job.json');
  assert.deepEqual([written.earlierResultsVersion, written.counts.shards > 0], [1, true]);
  assert.equal(readFileSync(join(out, 'sources.jsonl'), 'utf8'), lines);
  assert.deepEqual(changesOf((await run([...job, '--out', out])).changes), [3, 0, 0, 0, 0]);
  await assertAsFresh(out, job);
});

test('--checksum: a touched file counts as the same, and a file with other content does not, even with the same time', async () => {
  const source = join(folder, 'checked');
  mkdirSync(source);
  for (let i = 0; i < 4; i++) await writePgm(join(source, `${i}.pgm`), drawPicture(30, 30, i));
  const out = join(folder, 'checked-out');
  await run([source, '--checksum', '--out', out]);
  utimesSync(join(source, '1.pgm'), 1, 1);
  const { atime, mtime } = statSync(join(source, '2.pgm'));
  await writePgm(join(source, '2.pgm'), drawPicture(30, 30, 77));
  utimesSync(join(source, '2.pgm'), atime, mtime);
  const { changes } = await run([source, '--checksum', '--out', out]);
  assert.deepEqual(changesOf(changes), [3, 0, 1, 0, 0]);
  await assertAsFresh(out, [source, '--checksum']);
});

test('videos: every frame of an unchanged video is kept', { skip: noFfmpeg }, async () => {
  const source = join(folder, 'videos');
  mkdirSync(source);
  makeVideo(join(source, 'a.mkv'), videoKinds['h264-open.mkv']!, 20);
  makeVideo(join(source, 'b.mkv'), videoKinds['h264-open.mkv']!, 10);
  const out = join(folder, 'videos-out');
  const job = [source, '--map', 'png', '--every', '2'];
  await run([...job, '--out', out]);
  makeVideo(join(source, 'b.mkv'), videoKinds['h264-open.mkv']!, 16);
  makeVideo(join(source, 'c.mkv'), videoKinds['h264-open.mkv']!, 12);
  const { changes } = await run([...job, '--out', out]);
  assert.deepEqual(changesOf(changes), [10, 6, 8, 0, 0]);
  await assertAsFresh(out, job);
});

test('videos: another pipeline computes their frames as it does alone', { skip: noFfmpeg }, async () => {
  const source = join(folder, 'grown-video');
  mkdirSync(source);
  makeVideo(join(source, 'a.mkv'), videoKinds['h264-open.mkv']!, 12);
  const out = join(folder, 'grown-video-out');
  const codes = [source, '--batch', '4', '--pipeline', 'codes=lbp'];
  await run([...codes, '--out', out]);
  const { changes } = await run([...codes, '--pipeline', 'edges=ldp', '--out', out]);
  // Each shard has a frame with a preview.
  assert.deepEqual([...changesOf(changes), changes!.extended], [0, 0, 0, 12, 0, 0]);
  await assertAsFresh(out, [...codes, '--pipeline', 'edges=ldp']);
});

test('capture times are the start of a recording plus the time in it, or times of change if asked for; kept results have the same', {
  skip: noFfmpeg,
}, async () => {
  const source = join(folder, 'captured');
  mkdirSync(source);
  const plain = join(folder, 'plain.mkv');
  makeVideo(plain, videoKinds['h264-open.mkv']!, 10);
  const stated = ['-metadata', 'creation_time=2026-01-31T12:00:00Z'];
  runFfmpeg(['-i', plain, '-c', 'copy', ...stated, join(source, 'a.mkv')]);
  await writePgm(join(source, 'b.pgm'), drawPicture(30, 30, 1));
  const changedMs = Date.UTC(2025, 4, 6, 7, 8, 9);
  utimesSync(join(source, 'b.pgm'), changedMs / 1000, changedMs / 1000);
  const startMs = Date.UTC(2026, 0, 31, 12);
  // The recording has 25 frames a second.
  const frames = Array.from({ length: 10 }, (_, i) => startMs + 40 * i);

  const out = join(folder, 'captured-out');
  await run([source, '--out', out]);
  assert.deepEqual(await capturedMsOf(out), [...frames, undefined]);
  await writePgm(join(source, 'c.pgm'), drawPicture(30, 30, 2));
  assert.deepEqual(changesOf((await run([source, '--out', out])).changes), [11, 1, 0, 0, 0]);
  assert.deepEqual(await capturedMsOf(out), [...frames, undefined, undefined]);

  rmSync(join(source, 'c.pgm'));
  const byChange = join(folder, 'by-change-out');
  for (const kept of [0, 11]) {
    const { changes } = await run([source, '--captured-from', 'mtime', '--out', byChange]);
    assert.equal(changes?.kept ?? 0, kept);
    assert.equal((await capturedMsOf(byChange)).at(-1), changedMs);
  }
});

/** The capture times in features.parquet, in milliseconds since 1970. */
async function capturedMsOf(out: string): Promise<(number | undefined)[]> {
  const file = await asyncBufferFromFile(join(out, 'features.parquet'));
  const rows = (await parquetReadObjects({ file })) as { captured_at?: Date | null }[];
  return rows.map(({ captured_at: time }) => time?.getTime());
}

test('a killed run leaves the output of the run before, and the same command continues', {
  skip: hasProc ? false : 'which processes there are is told by /proc',
}, async () => {
  const source = join(folder, 'growing');
  mkdirSync(source);
  for (let i = 0; i < 10; i++) await writePgm(join(source, `${i}.pgm`), drawPicture(40, 30, i));
  const out = join(folder, 'grown');
  const job = [source, '--map', 'tiff', '--batch', '1'];
  const alone = ['run', ...job, '--out', out, '--device', 'cpu'];
  await run([...job, '--out', out]);
  const files = hashFiles(out);
  delete files['job.json'];
  for (let i = 10; i < 50; i++) await writePgm(join(source, `${i}.pgm`), drawPicture(40, 30, i));
  for (let kill = 0; kill < repeated(1, 3); kill++) {
    const program = new Halogrid(alone, { ownGroup: true });
    await eventually('the first results, or the end', () => hasChunks(out) || isComplete(out, 50));
    await pause(50 * kill);
    program.kill();
    await program.ended;
    await eventually('its processes to be gone', () => program.processes().length === 0);
    if (isComplete(out, 50)) break;
    if ((await readyOutput(out)) !== undefined) continue;
    for (const [name, hash] of Object.entries(files)) assert.equal(hashFiles(out)[name], hash, name);
  }
  const again = await command(alone);
  assert.equal(again.code, 0, again.stderr);
  assert.ok(!existsSync(join(out, '.halogrid')));
  assert.equal(readdirSync(join(out, 'maps')).length, 50);
  await assertAsFresh(out, job);
});

function isComplete(out: string, sources: number): boolean {
  try {
    const { state, counts } = readJson(out, 'job.json');
    return state === 'complete' && counts.sources === sources;
  } catch {
    return false;
  }
}

test('a cancelled or failed run restores the output of the run before', async () => {
  const source = join(folder, 'failing');
  mkdirSync(source);
  await writePgm(join(source, '0.pgm'), drawPicture(40, 30, 1));
  const out = join(folder, 'kept');
  await run([source, '--out', out]);
  // Histograms that do not match the digests must not become part of a result.
  const parquet = readFileSync(join(out, 'features.parquet'));
  const broken = Buffer.from(parquet);
  for (let i = 300; i < 340; i++) broken[i]! ^= 0xff;
  writeFileSync(join(out, 'features.parquet'), broken);
  const files = hashFiles(out);
  const failed = await cluster.halogrid(['run', source, '--out', out]);
  assert.equal(failed.code, 1);
  assert.match(
    failed.stderr,
    /The earlier results of 'file:.*0\.pgm' in '.*' have changed since they were written; a fresh run computes everything again/,
  );
  assert.deepEqual(hashFiles(out), files);
  await run([source, '--out', out, '--fresh']);
  assert.deepEqual(readFileSync(join(out, 'features.parquet')), parquet);
});
