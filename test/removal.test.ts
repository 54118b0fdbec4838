import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ServingCluster } from './cluster.ts';
import { command } from './command.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// What `rm` and `gc` remove, and what they leave.

const folder = scratchFolder();
const source = join(folder, 'picture.pgm');
let cluster: ServingCluster;

before(async () => {
  await writePgm(source, drawPicture(64, 64));
  cluster = await sharedCluster();
});
after(() => cluster?.stop());

async function compute(name: string): Promise<{ out: string; id: string }> {
  const out = join(folder, name);
  const { jobId: id } = await cluster.jobs.run({ sources: [source], out, map: 'tiff' });
  return { out, id };
}

test('rm removes a job of a coordinator, which forgets it, and leaves files of somebody else', async () => {
  const { out, id } = await compute('of-cluster');
  writeFileSync(join(out, 'notes.txt'), 'mine');
  const dry = await cluster.halogrid(['rm', id, '--dry-run', '--json']);
  assert.equal(dry.code, 0, dry.stderr);
  assert.ok(JSON.parse(dry.stdout)[0].files > 3 && existsSync(join(out, 'job.json')));
  const { code, stdout, stderr } = await cluster.halogrid(['rm', id]);
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    new RegExp(`^Job ${id} removed: .* in \\d+ files \\('${out}'\\)\\.\n'${out}' stays, .*: notes\\.txt\\.\n$`),
  );
  assert.deepEqual(readdirSync(out), ['notes.txt']);
  assert.equal((await cluster.halogrid(['status', id])).code, 2, 'the coordinator has forgotten the job');
});

test('rm refuses everything if it refuses one, and removes folders without a coordinator', async () => {
  const { out, id } = await compute('of-folder');
  const plain = join(folder, 'plain');
  mkdirSync(plain);
  const refused = await command(['rm', out, plain]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /'.*plain' is not the output of a job: it has no job\.json of halogrid/);
  assert.ok(existsSync(join(out, 'job.json')));

  const jobJson = JSON.parse(readFileSync(join(out, 'job.json'), 'utf8'));
  const left = { ...jobJson, state: 'running', coordinator: { host: 'another', pid: 1 }, finished: undefined };
  writeFileSync(join(out, 'job.json'), JSON.stringify(left));
  const running = await command(['rm', out]);
  assert.equal(running.code, 2);
  assert.match(running.stderr, /the machine 'another' may run it/);
  const found = await command(['gc', folder, '--unfinished', '--older-than', '0']);
  assert.equal(found.code, 0, found.stderr);
  assert.match(found.stdout, new RegExp(`^${id} .*stays: the machine 'another' may run it`, 'm'));
  assert.match(found.stdout, /1 job left/);
  const young = await cluster.halogrid(['gc', out, '--unfinished']);
  assert.match(young.stdout, /the machine 'another' may run it; look there, or give --older-than/, young.stderr);
  const asked = await cluster.halogrid(['gc', out, '--unfinished', '--older-than', '0']);
  assert.match(asked.stdout, new RegExp(`^${id} .*removed: unfinished, nobody leads it`, 'm'), asked.stderr);
  assert.ok(!existsSync(out));
});

test('gc shows sizes, and removes what is old enough', async () => {
  const { out, id } = await compute('of-gc');
  const shown = await command(['gc', folder]);
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, new RegExp(`^${id} +complete .*stays`, 'm'));
  assert.match(shown.stdout, /--older-than 30d removes/);
  const removed = await command(['gc', out, '--older-than', '0', '--json']);
  assert.equal(removed.code, 0, removed.stderr);
  assert.deepEqual([JSON.parse(removed.stdout).jobs[0].fate, existsSync(out)], ['remove', false]);
});
