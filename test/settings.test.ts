import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually, freePort } from '@halogrid/testing';
import { Halogrid, halogrid } from './halogrid.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';

// Options that are set in the environment and in files instead of on the command line.

const scratch = scratchFolder();
const frames = fileURLToPath(new URL('../samples/frames', import.meta.url));

/** A folder with a halogrid.toml. */
function folderWith(name: string, toml: string): string {
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'halogrid.toml'), toml);
  return folder;
}

/** The environment of a user with that file. */
function userWith(name: string, toml: string): Record<string, string> {
  folderWith(join(name, 'halogrid'), toml);
  return { XDG_CONFIG_HOME: join(scratch, name) };
}

test('a run takes options from all places, and is quiet if it is told to be', async () => {
  const out = join(scratch, 'out');
  const cwd = folderWith('photographs', 'batch = 5\ngrid = "2x2"\n[profiles.quick.run]\ngrid = "1x3"\n');
  const env = {
    ...userWith('config', 'quiet = true\nbatch = 1\ncoordinator = "127.0.0.1:9"\n'),
    HALOGRID_OUT: out,
    HALOGRID_PROFILE: 'quick',
    // Options of servers must not affect the coordinator and the node of a run.
    HALOGRID_LISTEN: '203.0.113.1:1',
    HALOGRID_TOKENS: '/missing',
    HALOGRID_DATA_ROOT: '/missing',
  };
  const { code, stderr } = await halogrid(['run', frames, '--device', 'cpu'], { cwd, env });
  assert.deepEqual([code, stderr], [0, '']);
  const { grid, batchFrames } = readJson(out, 'job.json').specification;
  assert.deepEqual([grid, batchFrames], [{ rows: 1, columns: 3 }, 5]);
});

test('a file in a folder cannot send a token to a foreign server', async (t) => {
  const stranger = createServer(() => assert.fail('somebody calls the stranger'));
  stranger.listen(0, '127.0.0.1');
  t.after(() => stranger.close());
  await eventually('the stranger to listen', () => stranger.listening);
  const { port } = stranger.address() as { port: number };
  const cwd = folderWith('archive', `coordinator = "127.0.0.1:${port}"\n`);
  for (const args of [['jobs'], ['run', frames], ['submit', frames], ['node']]) {
    const { code, stdout, stderr } = await halogrid(args, { cwd, env: { HALOGRID_TOKEN: 'secret' } });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^halogrid: \S+archive\/halogrid\.toml:1: Expected no coordinator in the file of a folder/);
    assert.doesNotMatch(stderr, /secret/);
  }
});

test('config says where each option comes from, and shows no password', async () => {
  const cwd = folderWith('folder', 'tile = 512\n');
  const env = {
    ...userWith('home', '[coordinator]\ntokens = "/etc/tokens"\n'),
    HALOGRID_LEDGER: 'postgres://me:secret@db/halogrid',
    HALOGRID_DEVICE: 'tpu',
  };
  const { code, stdout } = await halogrid(['config', '--json'], { cwd, env });
  assert.equal(code, 0);
  const { files, options } = JSON.parse(stdout);
  assert.deepEqual(
    files.map((file: { isThere: boolean }) => file.isThere),
    [true, true],
  );
  const of = (command: string, option: string) =>
    options.find((one: { command: string; option: string }) => one.command === command && one.option === option);
  assert.deepEqual(
    [of('run', 'tile').value, of('run', 'tile').place, of('run', 'tile').from],
    [512, 'folder', `${join(cwd, 'halogrid.toml')}:1`],
  );
  assert.equal(of('coordinator', 'tokens').place, 'user');
  assert.equal(of('coordinator', 'ledger').value, 'postgres://me:***@db/halogrid');
  assert.match(of('run', 'device').error, /Expected one of auto, gpu, software, cpu for --device but received 'tpu'/);
  assert.doesNotMatch(stdout, /secret/);
});

test('a wrong value is reported with its place, also if the error is found later', async () => {
  const cwd = folderWith('wrong', '\ngrid = "2by2"\n');
  const { code, stderr } = await halogrid(['plan', frames], { cwd, env: { HALOGRID_TYLE: '1' } });
  assert.equal(code, 2);
  assert.match(
    stderr,
    /^HALOGRID_TYLE is set, and no option or variable of halogrid has that name \(did you mean HALOGRID_TILE\?\)\.\nhalogrid: \S+halogrid\.toml:2: Expected RxC/,
  );
});

test('submit --wait submits its job to a coordinator that starts later', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const early = new Halogrid(['submit', frames, '--wait', '--coordinator', address, '--out', join(scratch, 'late')]);
  const http = ['--http', '127.0.0.1:0', '--ledger', join(scratch, 'ledger')];
  const coordinator = new Halogrid(['coordinator', '--listen', address, ...http]);
  const { code, stdout } = await early.ended;
  coordinator.signal('SIGTERM');
  await coordinator.ended;
  assert.equal(code, 0);
  assert.match(stdout, /^\d{8}-\d{6}-[0-9a-f]{6}\n$/);
});
