import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConsole } from './describe-console.ts';

const open = { host: '127.0.0.1', port: 9464, isTls: false, wantsToken: false, wantsCertificate: false };

test('the console is at the address of HTTP', () => {
  assert.equal(describeConsole(open), 'Console: http://127.0.0.1:9464/');
  assert.equal(describeConsole({ ...open, host: '[::1]', isTls: true }), 'Console: https://[::1]:9464/');
});

test('the note says how to get into the console', () => {
  assert.equal(
    describeConsole({ ...open, wantsToken: true }),
    "Console: http://127.0.0.1:9464/ (needs a token with the role 'read' or 'submit')",
  );
  assert.match(
    describeConsole({ ...open, isTls: true, wantsToken: true, wantsCertificate: true }),
    /\(needs a token .* and a certificate in the browser that is signed by the authority of --tls-ca\)$/,
  );
});
