import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { sendFile, startServer } from './remote/testing-servers.ts';
import { shortVersion, sourceVersion } from './source-version.ts';
import { temporaryFolder } from './testing.ts';

test('the version of a file is another one when it was written to', async (t) => {
  const path = join(await temporaryFolder(t), 'a.pgm');
  const uri = pathToFileURL(path).href;
  await writeFile(path, 'one');
  const before = await sourceVersion(uri);
  assert.equal(await sourceVersion(uri), before);
  await writeFile(path, 'other');
  const after = await sourceVersion(uri);
  assert.notEqual(after, before);
  assert.notEqual(shortVersion(after), shortVersion(before));
  assert.equal(await sourceVersion(`${uri}.none`), `${uri}.none`);
});

test('the version of a file on a server is another one when its ETag, time or size is', async (t) => {
  let served: Parameters<typeof sendFile>[0] = { bytes: Buffer.from('one') };
  const server = await startServer((request, response) => sendFile(served, request, response));
  t.after(() => server.close());
  const versions = new Set<string>();
  for (const bytes of ['one', 'other']) {
    for (const etag of [undefined, '"1"', '"2"']) {
      for (const lastModified of [undefined, 'Mon, 01 Jan 2024 00:00:00 GMT']) {
        served = { bytes: Buffer.from(bytes), etag, lastModified };
        const version = await sourceVersion(`${server.origin}/a`);
        assert.equal(await sourceVersion(`${server.origin}/a`), version);
        versions.add(version);
      }
    }
  }
  assert.equal(versions.size, 12);
});

test('a server that tells nothing leaves the URI', async () => {
  for (const uri of ['http://nowhere.invalid/a', 'http://me:password@host/a']) {
    assert.equal(await sourceVersion(uri), uri);
  }
});
