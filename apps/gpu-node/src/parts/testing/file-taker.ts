import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** Takes files as a coordinator with remote nodes does, or answers every request with `status`. */
export async function startTaker(t: TestContext, status = 204) {
  const taken: { path: string; bytes: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await Array.fromAsync(request));
    const digest = createHash('sha256').update(bytes).digest('base64');
    assert.deepEqual([request.method, request.headers['content-digest']], ['PUT', `sha-256=:${digest}:`]);
    taken.push({ path: request.url!, bytes });
    response.writeHead(status).end('No');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { taken, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
