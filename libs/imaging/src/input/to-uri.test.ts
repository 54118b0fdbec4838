import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { toUri } from './to-uri.ts';

test('paths are taken from the working folder, and special characters survive', () => {
  assert.equal(toUri('a.jpg', '/data'), 'file:///data/a.jpg');
  assert.equal(toUri('../b', '/data/x'), 'file:///data/b');
  assert.equal(toUri('/a b#c?d%20e', '/data'), 'file:///a%20b%23c%3Fd%2520e');
  assert.equal(toUri('frames/*.jpg', '/data'), 'file:///data/frames/*.jpg');
  assert.equal(fileURLToPath(toUri('C:/x:y', '/data')), '/data/C:/x:y');
});

test('file: URIs are taken as they are; a query or fragment is part of the name or glob', () => {
  assert.equal(toUri('file:///a%20b.jpg', '/data'), 'file:///a%20b.jpg');
  assert.equal(toUri('FILE:///a/../b', '/data'), 'file:///b');
  assert.equal(fileURLToPath(toUri('file:///a/frame??.jpg', '/data')), '/a/frame??.jpg');
  assert.equal(fileURLToPath(toUri('file:///a#1.jpg', '/data')), '/a#1.jpg');
});

test('other schemes and URIs of other machines are refused', () => {
  for (const source of ['http://host/a.jpg', 's3://bucket/key', 'HTTPS://host/']) {
    const message = `'${source}' is not supported yet: expected a path or a file: URI`;
    assert.throws(() => toUri(source, '/data'), { name: 'SourceUriError', message });
  }
  assert.throws(() => toUri('file://host/a', '/data'), {
    name: 'SourceUriError',
    message: /^'file:\/\/host\/a' is not /,
  });
  assert.throws(() => toUri('file:///%zz', '/data'), { name: 'SourceUriError' });
});

test('any file name comes back from its URI', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter((n) => !/[/\0]/.test(n) && !/^\.+$/.test(n));
  fc.assert(fc.property(name, (n) => assert.equal(fileURLToPath(toUri(`./${n}`, '/data')), `/data/${n}`)));
});
