import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createRegistry } from '../metrics.ts';
import { exposeCredentialEnds, nextToEnd } from './expose-credential-ends.ts';
import { createServerSecurity } from './server-security.ts';
import { makeCertificates, secretFolder, writeSecret } from './testing/secrets.ts';
import { parseTokens } from './tokens.ts';

test('the token that ends next is the first among all that have not ended', () => {
  const line = (name: string, end: string) => `read ${name} ${name.repeat(16)} ${end}\n`;
  const text = line('a', '2030-01-01') + line('b', '2029-01-01') + line('c', '2031-01-01') + line('d', '');
  const entries = parseTokens(text, 'a test');
  const next = (time: string) => nextToEnd(entries, Date.parse(time))?.name;
  assert.deepEqual(['2028-01-01', '2029-01-01', '2030-06-01', '2031-06-01'].map(next), ['b', 'a', 'c', undefined]);
});

test('the end of a certificate and of a token are metrics; a server without them has none', async (t) => {
  const folder = secretFolder(t);
  const { cert, key } = makeCertificates(folder, 'server');
  const tokens = writeSecret(folder, 'tokens', 'read rack 0123456789abcdef 2999-01-01T00:00:00Z\n');
  const samples = async (options: Parameters<typeof createServerSecurity>[0]) => {
    const registry = createRegistry('coordinator');
    exposeCredentialEnds(registry, createServerSecurity(options));
    return (await registry.metrics()).split('\n').filter((line) => /^halogrid_credential_end\S+\{/.test(line));
  };
  const endsAt = Date.parse(new X509Certificate(readFileSync(cert)).validTo) / 1000;
  const [certificate, token] = await samples({ tlsCert: cert, tlsKey: key, tokens });
  assert.match(certificate!, new RegExp(`kind="certificate",.* ${endsAt}$`));
  assert.match(token!, new RegExp(`kind="token",name="rack".* ${Date.parse('2999-01-01') / 1000}$`));
  assert.deepEqual(await samples({}), []);
});
