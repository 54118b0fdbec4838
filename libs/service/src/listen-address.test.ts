import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress, parseListenAddress } from './listen-address.ts';
import { UsageError } from './usage-error.ts';

test('HOST:PORT is a name or an address and a port; an IPv6 address is in brackets', () => {
  assert.deepEqual(parseAddress('--x', 'localhost:7070'), { host: 'localhost', port: 7070 });
  assert.deepEqual(parseAddress('--x', '[::1]:0'), { host: '[::1]', port: 0 });
});

for (const text of ['', 'localhost', ':1', 'a:b', 'a:65536', 'a:-1', 'a:123456', '::1:7070']) {
  test(`'${text}' is not an address`, () => {
    assert.throws(
      () => parseAddress('--x', text),
      (error: unknown) => error instanceof UsageError && error.message.includes(`for --x but received '${text}'`),
    );
  });
}

test('an address that other machines can reach needs the explicit word', () => {
  for (const text of ['127.0.0.1:1', 'localhost:1', '[::1]:1']) parseListenAddress('--x', text, false);
  for (const text of ['0.0.0.0:1', '[::]:1', '10.0.0.1:1', 'example.org:1']) {
    assert.throws(() => parseListenAddress('--x', text, false), /Refusing to listen on .* neither TLS nor a token/);
    assert.equal(parseListenAddress('--x', text, true).port, 1);
  }
});
