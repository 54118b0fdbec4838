import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { toFileUri, toUri } from './to-uri.ts';

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

test('files on servers keep their place; fragments go', () => {
  assert.equal(toUri('HTTP://Host:80/a b.jpg?x=1#part', '/data'), 'http://host/a%20b.jpg?x=1');
  assert.equal(toUri('https://[::1]:8443/a/../b', '/data'), 'https://[::1]:8443/b');
});

test('keys of objects are taken as they are, escapes, question marks and all', () => {
  assert.equal(toUri('S3://Bucket/a b%20c?d#e//f+[1]*.jpg', '/data'), 's3://Bucket/a b%20c?d#e//f+[1]*.jpg');
  assert.equal(toUri('s3://bucket', '/data'), 's3://bucket/');
});

test('a URI that no server could serve is refused, and no password is repeated', () => {
  const refused = (uri: string, message: RegExp) =>
    assert.throws(() => toUri(uri, '/'), { name: 'SourceUriError', message });
  refused('http://', /^'http:\/\/' is not a URI$/);
  refused(
    'https://me:secret@host/a',
    /^A URI with a user name or password is not supported: that of a file at 'host'$/,
  );
  refused('s3://', /^Expected s3:\/\/BUCKET\/KEY but received 's3:\/\/'$/);
  refused('s3://host:80@evil/key', /^Expected s3:/);
  refused('s3://bucket/a/../b', /'\.\.' as a part/);
});

test('other schemes and URIs of other machines are refused', () => {
  for (const source of ['ftp://host/a.jpg', 'rtsp://camera/1', 'abfss://bucket/a.jpg']) {
    assert.throws(() => toUri(source, '/'), {
      name: 'SourceUriError',
      message: `'${source}' is not supported: expected a path, or a URI of file:, http:, https:, s3:, gs: or az:`,
    });
  }
  for (const source of ['data:image/png;base64,AAAA', 'data:,x', 'DATA:text/plain;charset=utf-8,x']) {
    assert.throws(() => toUri(source, '/'), {
      name: 'SourceUriError',
      message: 'A data: URI is not supported: expected a path, or a URI of file:, http:, https:, s3:, gs: or az:',
    });
  }
  assert.equal(toUri('data:x.png', '/'), 'file:///data:x.png');
  const sentence = (place: string) => `'${place}' is not supported: expected a path or a file: URI`;
  for (const place of ['http://host/a', 's3://bucket/key', 'HTTPS://host/']) {
    assert.throws(() => toFileUri(place, '/data'), { name: 'SourceUriError', message: sentence(place) });
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
