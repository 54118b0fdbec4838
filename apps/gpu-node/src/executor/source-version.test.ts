import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendFile, startServer } from '@halogrid/sources/testing-servers';
import { checkVersion, sourceVersion } from './source-version.ts';
import { withFolder } from './testing/shard-fixture.ts';

test('the version of a file changes when it is written to', async () => {
  await withFolder(async (folder) => {
    const uri = await folder.put('a.pgm', 'one');
    const before = await sourceVersion(uri);
    assert.equal(await sourceVersion(uri), before);
    await folder.put('a.pgm', 'other');
    assert.notEqual(await sourceVersion(uri), before);
    assert.equal(await sourceVersion(`${uri}.none`), `${uri}.none`);
  });
});

test("a file that differs from its manifest is refused with the manifest's statement", async () => {
  await withFolder(async (folder) => {
    const now = await sourceVersion(await folder.put('a.pgm', 'one'));
    checkVersion(now, 'size=3');
    const message = 'The file is not what its manifest states (size=4)';
    assert.throws(() => checkVersion(now, 'size=4'), { name: 'InputError', message, fault: 'changed' });
    assert.throws(() => checkVersion(undefined, 'etag=a size=3'), /its manifest states \(etag=a size=3\)/);
  });
});

test('the version of a file on a server changes with its ETag, time or size', async (t) => {
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

test('if a server tells nothing, the version is the URI', async () => {
  for (const uri of ['http://nowhere.invalid/a', 'http://me:password@host/a']) {
    assert.equal(await sourceVersion(uri), uri);
  }
});

test('a slide that was planned with another OpenSlide is left to other nodes; with other files it is refused', () => {
  const planned = '9 1767225600123 slide abc 3.4.1';
  checkVersion(planned, planned);
  checkVersion('9 1767225600123', planned);
  assert.throws(() => checkVersion('9 1767225600123 slide abc 4.0.0', planned), {
    name: 'MissingDecoderError',
    decodes: 'slide',
    message: 'OpenSlide 4.0.0 is here, and the coordinator has 3.4.1',
  });
  assert.throws(() => checkVersion('9 1767225600123 slide abd 3.4.1', planned), {
    name: 'InputError',
    fault: 'content',
    message: 'Files beside the slide are not what they were when the job was planned',
  });
  assert.throws(() => checkVersion('9 2 slide abd 3.4.1', planned), { name: 'InputError', fault: 'changed' });
});
