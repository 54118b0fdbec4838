import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { redactUri } from './access/redact-uri.ts';
import { formatOfName } from './formats.ts';
import { isMemberUri, memberUri, splitMember } from './member-uri.ts';
import { formatRemoteUri, parseRemoteUri } from './remote/remote-uri.ts';

// Pure functions: milliseconds.

const tars = ['file:///a%20b/x.tar', 'http://host/x.TAR', 'https://host/x.tar?sign=a%20b', 's3://bucket/a#b/x.tar'];
const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => !/[/\0]/.test(text));
const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const place = fc.nat(2 ** 40);

test('the URI of a member names its tar, its path and its bytes, whatever the path', () => {
  fc.assert(
    fc.property(fc.constantFrom(...tars), name, place, place, (tar, path, start, length) => {
      const uri = memberUri(tar, { name: path, start, length });
      assert.deepEqual(splitMember(uri), { file: tar, member: { name: path, start, length } });
      if (tar.startsWith('file:')) assert.equal(fileURLToPath(uri), '/a b/x.tar');
      else assert.equal(formatRemoteUri(parseRemoteUri(uri)), uri);
    }),
  );
});

test('members of a folder are in a folder of URIs, and the end of a URI tells the format', () => {
  const uri = memberUri('file:///x.tar', { name: 'cam 1/0001.seg.png', start: 1536, length: 20 });
  assert.equal(uri, 'file:///x.tar#/cam%201/0001.seg@1536+20.png');
  assert.equal(formatOfName(uri), 'png');
  assert.equal(memberUri('file:///x.tar', { name: 'a.d/b', start: 1, length: 2 }), 'file:///x.tar#/a.d/b@1+2');
});

test('other URIs are files', () => {
  for (const uri of ['file:///x.tar', 'file:///x.tar#/a.jpg', 's3://b/x.zip#/a@1+2.jpg', 's3://b/x.tar#a@1+2.jpg']) {
    assert.ok(!isMemberUri(uri), uri);
    assert.deepEqual(splitMember(uri), { file: uri });
  }
});

test('a member of a tar behind a signed URI keeps its name where the signature is removed', () => {
  const shown = redactUri('https://host/x.tar?sign=secret#/a@1+2.jpg');
  assert.match(shown, /^https:\/\/host\/x\.tar\?redacted-[0-9a-f]{8}#\/a@1\+2\.jpg$/);
});
