import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { redactUri } from './redact-uri.ts';

for (const [uri, redacted] of [
  ['file:///a/b%3Fc.png', 'file:///a/b%3Fc.png'],
  ['/a/b?c.png', '/a/b?c.png'],
  ['https://host/a@2x.png', 'https://host/a@2x.png'],
  ['https://host:81/', 'https://host:81/'],
  ['s3://bucket/key@v1.png', 's3://bucket/key@v1.png'],
  // printf '?a=1' | sha256sum
  ['https://host/a.png?a=1', 'https://host/a.png?redacted-1b94696a'],
  ['https://me:pw@host/a.png', 'https://host/a.png'],
  ['ftp://me@host:21/a.png', 'ftp://host:21/a.png'],
  ['https://me:p@w@host/a.png', 'https://host/a.png'],
  ['https://me:pa/w@host/a.png', 'https://redacted'],
] as const) {
  test(`${uri} is shown as ${redacted}`, () => assert.equal(redactUri(uri), redacted));
}

test('a secret never stays, wherever a URI can hold one, and what is shown is shown the same again', () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9+/=%._~-]{12,40}$/);
  fc.assert(
    fc.property(secret, fc.constantFrom('http', 'https', 'HTTP', 's3', 'ftp', 'x+y'), (word, scheme) => {
      // A '/' ends what can be a password.
      const password = word.replaceAll('/', '_');
      for (const uri of [
        `${scheme}://host/a.png?X-Amz-Signature=${word}`,
        `${scheme}://host/a.png?${word}#x`,
        `${scheme}://host/a.png#${word}`,
        `${scheme}://host?${word}`,
        `${scheme}://me:${password}@host/a.png`,
        `${scheme}://${password}@host/a.png`,
        `${scheme}://${password}:${password}@host:8080/a.png?${word}`,
      ]) {
        const redacted = redactUri(uri);
        assert.ok(!redacted.includes(word) && !redacted.includes(password), `${uri} became ${redacted}`);
        assert.equal(redactUri(uri), redacted);
      }
    }),
  );
});
