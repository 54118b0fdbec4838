import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberUri } from '@halogrid/sources/member-uri';
import { temporaryFile } from '@halogrid/sources/testing-files';
import { sendFile, startServer } from '@halogrid/sources/testing-servers';
import { openImage } from '../open-image.ts';
import { peekSize } from '../peek-size.ts';
import { decodeOpen, expectedFixtures, fixtureBytes, fixtureUri, sha256 } from '../testing/images.ts';

// Every reader of bytes has to know that a file may begin inside another: all fixtures, once from disk and once from a
// server, a second in all.

test('every fixture decodes as a range of a tar as it does alone, from disk and from a server', async (t) => {
  const names = Object.keys(expectedFixtures);
  const pieces: Buffer[] = [];
  const members = names.map((name) => {
    // What is beside a member must not count as part of it.
    pieces.push(Buffer.alloc(512 + pieces.length, 0xff));
    const start = Buffer.concat(pieces).length;
    const bytes = fixtureBytes(name);
    pieces.push(bytes);
    return { name, start, length: bytes.length };
  });
  const bytes = Buffer.concat([...pieces, Buffer.alloc(512, 0xff)]);
  const server = await startServer((request, response) => sendFile({ bytes, etag: '"1"' }, request, response));
  t.after(() => server.close());
  const local = await temporaryFile(t, 'x.tar', bytes);
  for (const tar of [local, `${server.origin}/x.tar`]) {
    for (const member of members) {
      const uri = memberUri(tar, member);
      const { width, height, sha256: gray, rgbSha256 } = expectedFixtures[member.name]!;
      const image = await openImage(uri);
      assert.deepEqual([image.width, image.height], [width, height], uri);
      assert.equal(sha256(await decodeOpen(image)), gray, uri);
      assert.equal(sha256(await decodeOpen(image, 'rgb')), rgbSha256, uri);
      assert.ok(image.inputBytes > 0, uri);
      await image.close();
      if (tar === local) assert.deepEqual(await peekSize(uri), await peekSize(fixtureUri(member.name)));
    }
  }
});

test('a member ends where its bytes end, though the tar goes on', async (t) => {
  const whole = fixtureBytes('deep.ppm');
  const tar = await temporaryFile(t, 'x.tar', Buffer.concat([whole, whole]));
  const member = { name: 'a.ppm', start: 0, length: whole.length - 2 };
  assert.equal(await peekSize(memberUri(tar, member)), undefined);
  await assert.rejects(openImage(memberUri(tar, member)), { stage: 'decode', message: /^The file is truncated: / });
});
