import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { type Access, openAccess } from '@halogrid/service';
import { checkChange } from './check-change.ts';

const json = { 'content-type': 'application/json; charset=utf-8', host: 'localhost:9464' };
const withToken: Access = {
  check: (authorization) =>
    authorization === 'Bearer good' ? undefined : { kind: 'forbidden', sentence: 'Expected a token' },
};

const tools = 'https://tools.example.org';

const allowed: [what: string, headers: IncomingHttpHeaders, access?: Access][] = [
  ['a page of a named site', { ...json, origin: tools, 'sec-fetch-site': 'cross-site' }],
  ['a program on this machine', json],
  ['its page', { ...json, origin: 'http://localhost:9464', 'sec-fetch-site': 'same-origin' }],
  ['a page at an address', { ...json, host: '[::1]:9464', origin: 'http://[::1]:9464' }],
  ["a page at this machine's name", { ...json, host: 'rack:9464', origin: 'http://rack:9464' }],
  [
    'a page behind a proxy, with a token',
    { ...json, host: 'console.example', authorization: 'Bearer good' },
    withToken,
  ],
];
const refused: [what: string, headers: IncomingHttpHeaders, sentence: RegExp, access?: Access][] = [
  ['a form of another site', { ...json, 'content-type': 'text/plain' }, /^Expected the content type/],
  ['no type', { host: json.host }, /^Expected the content type/],
  ['a page of another site', { ...json, 'sec-fetch-site': 'cross-site' }, /another site/],
  ['a page of a neighbour', { ...json, 'sec-fetch-site': 'same-site' }, /another site/],
  ['another origin', { ...json, origin: 'http://evil.example' }, /another site/],
  ['an origin of another port', { ...json, origin: 'http://localhost:80' }, /another site/],
  ['an origin that hides itself', { ...json, origin: 'null' }, /another site/],
  ['a page of another port of a named site', { ...json, origin: `${tools}:8443` }, /another site/],
  ['a form of a named site', { ...json, origin: tools, 'content-type': 'text/plain' }, /^Expected the content/],
  ['a page of a named site without the required token', { ...json, origin: tools }, /^Expected a token$/, withToken],
  ['no token although one is required', json, /^Expected a token$/, withToken],
  ['a wrong token', { ...json, authorization: 'Bearer bad' }, /^Expected a token$/, withToken],
];

for (const [what, headers, access = openAccess] of allowed) {
  test(`${what} may change something`, () => {
    checkChange(headers, access, [tools]);
  });
}
for (const [what, headers, message, access = openAccess] of refused) {
  test(`${what} is refused`, () => {
    assert.throws(() => checkChange(headers, access, [tools]), {
      kind: message.source.includes('content') ? 'unsupported' : 'forbidden',
      message,
    });
  });
}
