import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { checkChange } from './check-change.ts';

const json = { 'content-type': 'application/json; charset=utf-8', host: 'localhost:9464' };

const tools = 'https://tools.example.org';

const allowed: [what: string, headers: IncomingHttpHeaders][] = [
  ['a page of a named site', { ...json, origin: tools, 'sec-fetch-site': 'cross-site' }],
  ['a program on this machine', json],
  ['its page', { ...json, origin: 'http://localhost:9464', 'sec-fetch-site': 'same-origin' }],
  ['a page at an address', { ...json, host: '[::1]:9464', origin: 'http://[::1]:9464' }],
  ["a page at this machine's name", { ...json, host: 'rack:9464', origin: 'http://rack:9464' }],
];
const refused: [what: string, headers: IncomingHttpHeaders, sentence: RegExp][] = [
  ['a form of another site', { ...json, 'content-type': 'text/plain' }, /^Expected the content type/],
  ['no type', { host: json.host }, /^Expected the content type/],
  ['a page of another site', { ...json, 'sec-fetch-site': 'cross-site' }, /another site/],
  ['a page of a neighbour', { ...json, 'sec-fetch-site': 'same-site' }, /another site/],
  ['another origin', { ...json, origin: 'http://evil.example' }, /another site/],
  ['an origin of another port', { ...json, origin: 'http://localhost:80' }, /another site/],
  ['an origin that hides itself', { ...json, origin: 'null' }, /another site/],
  ['a page of another port of a named site', { ...json, origin: `${tools}:8443` }, /another site/],
  ['a form of a named site', { ...json, origin: tools, 'content-type': 'text/plain' }, /^Expected the content/],
];

for (const [what, headers] of allowed) {
  test(`${what} may change something`, () => {
    checkChange(headers, [tools]);
  });
}
for (const [what, headers, message] of refused) {
  test(`${what} is refused`, () => {
    assert.throws(() => checkChange(headers, [tools]), {
      kind: message.source.includes('content') ? 'unsupported' : 'forbidden',
      message,
    });
  });
}
