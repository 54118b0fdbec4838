import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { partsFolder } from '@halogrid/results/shard-place';
import { SourceList } from '@halogrid/results/source-list';
import { eventually, showOnFailure, within } from '@halogrid/testing';
import { FakeCoordinator } from './agent/testing/fake-coordinator.ts';
import { putFrames } from './executor/testing/put-frames.ts';
import { frameLease, type TestFolder, withFolder } from './executor/testing/shard-fixture.ts';

function startProcess(t: TestContext, address: string) {
  const program = fileURLToPath(new URL('./testing/run-node.ts', import.meta.url));
  const child = spawn(process.execPath, [program, address], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  const end = () => child.exitCode ?? child.signalCode ?? undefined;
  showOnFailure({ name: 'node', printed: () => printed, end });
  return child;
}

/** A source that never answers, so that the node also has other work. */
async function endlessSource(t: TestContext): Promise<string> {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.pgm`;
}

const namesIn = (folder: TestFolder) => readdir(join(folder.path, 'scratch', partsFolder)).catch((): string[] => []);

test('a node that is killed while it writes a part leaves only whole parts, and has reported none', async (t) => {
  const endless = await endlessSource(t);
  const coordinator = new FakeCoordinator();
  await coordinator.start();
  t.after(() => coordinator.close());
  // A node may be killed between two parts; then another one is tried.
  for (let n = 1, isWithin = false; !isWithin; n++) {
    await withFolder(async (folder) => {
      const { uris } = await putFrames(folder);
      const node = startProcess(t, coordinator.address);
      const session = await coordinator.session(n);
      session.lease(frameLease(folder, [endless], { shard: 1000 }));
      for (let shard = 0; shard < 200; shard++) session.lease(frameLease(folder, uris, { shard }));
      await eventually('a part that grows', async () => (await namesIn(folder)).some((name) => name.endsWith('.tmp')));
      node.kill('SIGKILL');
      await within('the end of the node', once(node, 'exit'));
      const names = await namesIn(folder);
      isWithin = names.some((name) => name.endsWith('.tmp'));
      const whole = names.filter((name) => !name.endsWith('.tmp'));
      for (const name of whole) {
        const list = await SourceList.open(join(folder.path, 'scratch', partsFolder, name));
        assert.equal(list!.length % uris.length, 0);
      }
      for (const report of session.reports) {
        if (report.$case === 'completed') assert.ok(whole.includes(report.value.found!.part!));
      }
    });
  }
});
