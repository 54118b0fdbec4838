import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { noFfmpeg } from '@halogrid/imaging/testing-videos';
import type { ServingCluster } from './cluster.ts';
import { command } from './command.ts';
import { writePgm } from './picture-files.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';
import { viewWithChange } from './view-with-change.ts';

// Finds changes in the frames of a camera.

const folder = scratchFolder();
const [frames, out] = [join(folder, 'frames'), join(folder, 'out')] as [string, string];
const count = 80;
let cluster: ServingCluster;

before(async () => {
  mkdirSync(frames);
  for (let i = 0; i < count; i++) await writePgm(join(frames, `${String(i).padStart(3, '0')}.pgm`), viewWithChange(i));
  cluster = await sharedCluster();
  const { code, stderr } = await cluster.halogrid(['run', frames, '--grid', '2x2', '--out', out]);
  assert.equal(code, 0, stderr);
});
after(() => cluster.stop());

test('a lasting change is found at its place and time, with the documented JSON, a timeline and pictures', async () => {
  const found = join(folder, 'found');
  const { code, stdout, stderr } = await command(['changes', out, '--json', '--out', found]);
  assert.equal(code, 0, stderr);
  const events = JSON.parse(stdout);
  const nameOf = (number: number) => pathToFileURL(join(frames, `${String(number).padStart(3, '0')}.pgm`)).href;
  assert.equal(events.length, 1);
  const [{ camera, kind, start, end, time, cells, strength, frames: shown }] = events;
  assert.deepEqual(
    { camera, kind, start, end, time, cells, before: shown.before.uri, first: shown.first.uri },
    {
      camera: pathToFileURL(frames).href,
      kind: 'left',
      start: 50,
      end: count - 1,
      time: 'frame',
      cells: [[1, 1]],
      before: nameOf(49),
      first: nameOf(50),
    },
  );
  assert.ok(strength > 0.1 && strength <= 1);
  const lines = readFileSync(join(found, 'events.jsonl'), 'utf8').trim().split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    events,
  );
  assert.match(readFileSync(join(found, 'timeline.svg'), 'utf8'), /^<svg .*<rect class="lasting".*<title>left, 0\./s);
  assert.equal(readFileSync(join(found, 'before-after.png')).readUInt32BE(0), 0x89504e47);
});

test('in a recording, each cover is found and nothing else', { skip: noFfmpeg }, async () => {
  const [video, results] = [join(folder, 'covers.mp4'), join(folder, 'covers')];
  const covers = [
    [60, 80],
    [103, 119],
    [141, 171],
  ] as const;
  const isCovered = covers.map(([from, to]) => `gte(t,${from})*lt(t,${to})`).join('+');
  const picture = fileURLToPath(new URL('../samples/frames/street-00.jpg', import.meta.url));
  execFileSync('ffmpeg', [
    ...['-v', 'error', '-loop', '1', '-framerate', '1', '-i', picture],
    ...['-f', 'lavfi', '-i', 'color=c=0x101010:s=320x180:r=1'],
    '-filter_complex',
    `[0:v]scale=320:180,format=yuv420p[b];[b][1:v]overlay=enable='${isCovered}',noise=alls=6:allf=t:all_seed=9`,
    ...['-t', '200', '-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-g', '4', video],
  ]);
  const ops = ['--op', 'conv:kernel=gaussian-5,as=u8', '--op', 'lbp:labels=nri-uniform'];
  const run = await cluster.halogrid(['run', video, ...ops, '--grid', '6x10', '--out', results]);
  assert.equal(run.code, 0, run.stderr);
  const { code, stdout, stderr } = await command(['changes', results, '--json']);
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    JSON.parse(stdout).map(({ kind, start, end }: Record<string, unknown>) => [kind, start, end]),
    covers.map(([from, to]) => ['covered', 1000 * from, 1000 * (to - 1)]),
  );
});

test('frames that cannot be compared give one sentence', async () => {
  const [single, other] = [join(folder, 'single'), join(folder, 'other')];
  for (const args of [
    ['run', join(frames, '000.pgm'), '--out', single],
    ['run', frames, '--op', 'lbp:labels=var', '--out', other],
  ]) {
    const { code, stderr } = await cluster.halogrid(args);
    assert.equal(code, 0, stderr);
  }
  const wrong: [string[], number, RegExp][] = [
    [[frames], 1, /^halogrid: '.*frames' is not the output of a job: its job\.json cannot be read\n$/],
    [[single], 2, /^halogrid: The job in '.*single' has one frame: nothing can have changed\n$/],
    [[other], 1, /^halogrid: 'lbp:.*labels=var.*' has no histogram/],
    [
      [out, '--camera', 'north'],
      2,
      /^halogrid: The job has no frame of camera 'north': its camera is 'file:.*frames'\n$/,
    ],
    [[out, '--kind', 'moved'], 2, /^halogrid: .*covered, blurred, turned, view, left, passing but received 'moved'/],
  ];
  for (const [args, code, sentence] of wrong) {
    const ended = await command(['changes', ...args]);
    assert.deepEqual([ended.code, ended.stdout], [code, '']);
    assert.match(ended.stderr, sentence);
  }
});
