import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClientSecurity } from './client-security.ts';

test('a token comes from the option, else from the file or the token in the environment, and is read again each time', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-client-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = (name: string) => {
    const path = join(folder, name);
    writeFileSync(path, `${name}-token\n`, { mode: 0o600 });
    return path;
  };
  const env = { HALOGRID_TOKEN_FILE: file('env'), HALOGRID_TOKEN: 'word' };
  assert.equal(createClientSecurity({}, {}).token(), undefined);
  assert.equal(createClientSecurity({}, { HALOGRID_TOKEN: 'word' }).token(), 'word');
  assert.equal(createClientSecurity({ tokenFile: file('option') }, env).token(), 'option-token');
  const { token } = createClientSecurity({}, env);
  assert.equal(token(), 'env-token');
  writeFileSync(env.HALOGRID_TOKEN_FILE, 'rotated');
  assert.equal(token(), 'rotated');
  assert.throws(
    () => createClientSecurity({}, { HALOGRID_TOKEN: 'two words' }),
    /Expected one token in HALOGRID_TOKEN/,
  );
  assert.throws(() => createClientSecurity({ tokenFile: join(folder, 'none') }), /\(--token-file\) cannot be read/);
});

test('a certificate without its key, and files without a certificate or key, are refused', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-client-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file');
  writeFileSync(path, 'nothing', { mode: 0o600 });
  assert.throws(() => createClientSecurity({ tlsCert: path }), /--tls-cert and --tls-key together/);
  assert.throws(() => createClientSecurity({ tlsCa: path }), /Expected a certificate in PEM for --tls-ca/);
  assert.throws(() => createClientSecurity({ tlsCa: join(folder, 'none') }), /\(--tls-ca\) cannot be read/);
});
