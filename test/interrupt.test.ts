import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { eventually } from '@halogrid/testing';
import { command } from './command.ts';
import { Halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hasProc } from './process-list.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';
import { slowFiles } from './slow-files.ts';
import { hasResults } from './unfinished.ts';

// If `halogrid run` ends half-way in any manner, no process stays behind, and the same command does the rest of the
// job.

const skip = hasProc ? false : 'what is left running is told by /proc';
const folder = scratchFolder();
const source = join(folder, 'picture.pgm');
const whole = join(folder, 'whole');

const job = (out: string, tilePx: number, nodes: number): string[] => {
  const cut = ['--map', 'tiff', '--tile', String(tilePx)];
  return ['run', source, '--out', out, ...cut, '--nodes', String(nodes), '--device', 'cpu'];
};

before(async () => {
  await writePgm(source, drawPicture(480, 480));
  await runUndisturbed([source, '--out', whole, '--map', 'tiff', '--tile', '4096']);
});

for (const [signal, code, olderNode, nodes] of [
  ['SIGINT', 130, false, 2],
  ['SIGTERM', 143, true, 1],
] as const) {
  const how = olderNode ? ' (the launcher stays)' : '';
  test(`${signal} stops the job${nodes > 1 ? ', and the same command goes on with it' : how}`, { skip }, async () => {
    const out = join(folder, `${signal}${olderNode}`);
    const run = await startHalfWay(out, olderNode, nodes);
    // Like a terminal at Ctrl-C: every process of the foreground group gets the signal, and a launcher passes it on
    // too.
    process.kill(-run.pid, signal);
    const ended = await run.ended;
    assert.equal(ended.code, code, ended.stderr);
    assert.equal(ended.stdout, '');
    assert.match(
      ended.stderr,
      /^Stopping job \S+\. Run the same command again to continue it; press Ctrl-C again to stop now\.$/m,
    );
    assert.deepEqual(run.processes(), []);
    assert.equal(readJson(out, 'job.json').state, 'running');
    if (nodes > 1) await assertCompletes(out, nodes);
  });
}

// kills.test.ts kills the process of `run`, after which its nodes end too, and the same command goes on with the job.
test('SIGKILL of the launcher: the others end by themselves', { skip }, async () => {
  const out = join(folder, 'launcher');
  const run = await startHalfWay(out, true, 1);
  process.kill(run.pidsOf('launcher')[0]!, 'SIGKILL');
  await eventually('its processes to be gone', () => run.processes().length === 0);
  await run.ended;
  assert.equal(readJson(out, 'job.json').state, 'running');
});

/** Starts the job and resolves when it has some of its results. */
async function startHalfWay(out: string, olderNode: boolean, nodes: number): Promise<Halogrid> {
  const run = new Halogrid(job(out, 40, nodes), { ownGroup: true, olderNode, env: slowFiles('picture.pgm') });
  await eventually('the first results', () => hasResults(out));
  assert.deepEqual(
    run
      .processes()
      .map(({ role }) => role)
      .sort(),
    [...(olderNode ? ['launcher'] : []), ...Array(nodes).fill('node'), 'run'],
  );
  return run;
}

async function assertCompletes(out: string, nodes: number): Promise<void> {
  const { id } = readJson(out, 'job.json');
  const { code, stderr } = await command(job(out, 40, nodes));
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    new RegExp(`^Job ${id} continues: [1-9]\\d* of \\d+ shards planned so far were done before.$`, 'm'),
  );
  assert.equal(readJson(out, 'job.json').digest, readJson(whole, 'job.json').digest);
  assert.deepEqual(hashFiles(out, 'maps'), hashFiles(whole, 'maps'));
  assert.deepEqual(readdirSync(out), [
    'features.parquet',
    'histogram.json',
    'histogram.svg',
    'job.json',
    'maps',
    'preview',
    'sources.jsonl',
  ]);
}
