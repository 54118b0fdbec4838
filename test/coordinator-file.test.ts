import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '@halogrid/testing';
import { get } from './get.ts';
import { Halogrid, halogrid } from './halogrid.ts';
import { scratchFolder } from './scratch-folder.ts';

const folder = scratchFolder();
const image = fileURLToPath(new URL('../samples/images/trunk.pgm', import.meta.url));
const file = join(folder, 'coordinator');
const anyPort = '127.0.0.1:0';
const places = ['--coordinator-file', file];

const startCoordinator = () =>
  new Halogrid(['coordinator', '--listen', anyPort, '--http', anyPort, '--ledger', 'memory', ...places], {
    withoutLauncher: true,
  });

test('nodes and clients find a coordinator by its file, also one that starts later or moves', async (t) => {
  const node = new Halogrid(['node', '--device', 'cpu', '--http', anyPort, ...places], { withoutLauncher: true });
  t.after(() => node.kill());
  const run = (out: string) => new Halogrid(['run', image, '--out', join(folder, out), ...places]);
  const first = run('first');
  const waits = /^Waiting for a coordinator to write '.*' \(--coordinator-file\)\.$/m;
  await eventually('a client that waits', () => waits.test(first.stderr));

  const killed = startCoordinator();
  t.after(() => killed.kill());
  const place = await killed.firstLine;
  assert.deepEqual(Object.keys(place), ['host', 'grpc', 'http']);
  assert.equal(place.host, '127.0.0.1');
  await eventually('the file', () => existsSync(file));
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), place);
  const { code, stderr } = await first.ended;
  assert.equal(code, 0, stderr);

  killed.kill();
  await killed.ended;
  const second = run('second');
  const coordinator = startCoordinator();
  t.after(() => coordinator.kill());
  assert.notEqual((await coordinator.firstLine).grpc, place.grpc);
  const end = await second.ended;
  assert.equal(end.code, 0, end.stderr);
  const { http } = await node.firstLine;
  assert.equal((await get(`http://127.0.0.1:${http}/readyz`)).status, 200);

  coordinator.signal('SIGTERM');
  assert.equal((await coordinator.ended).code, 0);
  assert.ok(!existsSync(file));
  node.signal('SIGTERM');
  assert.equal((await node.ended).code, 0);
});

const refused: [args: string[], sentence: RegExp][] = [
  [
    ['jobs', '--coordinator', 'a:1', ...places],
    /'--coordinator-file <file>' cannot be used with option '--coordinator/,
  ],
  [
    ['run', 'x.png', '--nodes', '2', ...places],
    /Expected none of --nodes, .* with --coordinator-file: the cluster has its own/,
  ],
  [['jobs', '--coordinator-file', 'package.json'], /for --coordinator-file but 'package\.json' holds something else/],
  [['coordinator', '--advertise', 'a:7070'], /without a port, .* for --advertise but received 'a:7070'/],
];

for (const [args, sentence] of refused) {
  test(`halogrid ${args.map((word) => (word === file ? 'FILE' : word)).join(' ')} is wrong usage`, async () => {
    const { code, stderr } = await halogrid(args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, sentence);
  });
}
