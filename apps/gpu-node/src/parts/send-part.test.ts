import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { withFolder } from '../executor/testing/shard-fixture.ts';
import { sendPart } from './send-part.ts';

/** Takes files as a coordinator does, or answers all with a status. */
async function startTaker(t: TestContext, status = 204) {
  const taken: { path: string; text: string }[] = [];
  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await Array.fromAsync(request));
    const digest = createHash('sha256').update(bytes).digest('base64');
    assert.deepEqual([request.method, request.headers['content-digest']], ['PUT', `sha-256=:${digest}:`]);
    taken.push({ path: request.url!, text: bytes.toString() });
    response.writeHead(status).end('No');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { taken, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('a part is sent file by file, the list of sources of its first pipeline last, and is no more here', async (t) => {
  const { taken, origin } = await startTaker(t);
  await withFolder(async (folder) => {
    const files = ['a/sources.parquet', 'a/features.parquet', 'b/sources.parquet'].map((name) => `pipelines/${name}`);
    for (const name of files) await folder.put(`p/${name}`, name);
    await sendPart(join(folder.path, 'p'), `${origin}/parts/p`, ['a', 'b']);
    assert.equal(taken.at(-1)!.path, '/parts/p/pipelines/a/sources.parquet');
    assert.deepEqual(
      taken.map(({ path, text }) => [path, text]).toSorted(),
      files.map((name) => [`/parts/p/${name}`, name]).toSorted(),
    );
    assert.equal(existsSync(join(folder.path, 'p')), false);
  });
});

test('a part that is not taken is a sentence, and is no more here', async (t) => {
  const { taken, origin } = await startTaker(t, 403);
  await withFolder(async (folder) => {
    await folder.put('p/sources.parquet', 'rows');
    await assert.rejects(sendPart(join(folder.path, 'p'), `${origin}/parts/p`, ['']), {
      message: 'The part could not be sent to the coordinator: 403 No',
    });
    assert.deepEqual([taken.length, existsSync(join(folder.path, 'p'))], [1, false]);
  });
});
