import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../usage-error.ts';
import { identifiedAccess } from './access.ts';
import { type OtherIdentityOptions, readOtherIdentities } from './other-identities.ts';
import { noRules, parseOwners } from './owner-rules.ts';
import { proxyIdentity } from './proxy-identity.ts';

const oidc = { oidcIssuer: 'https://id.example.org/realms/lab', oidcAudience: 'halogrid' };
const proxy = { identityHeader: 'X-Forwarded-User', trustedProxy: ['10.0.0.0/8', 'fd00::7'] };

test('options of other identities are read', () => {
  assert.deepEqual(readOtherIdentities({}, false), {});
  assert.deepEqual(readOtherIdentities({ ...oidc, ...proxy }, true), {
    oidc: { issuer: oidc.oidcIssuer, audience: 'halogrid', nameClaim: 'sub' },
    proxy: { header: 'X-Forwarded-User', proxies: proxy.trustedProxy },
  });
  assert.equal(readOtherIdentities({ ...oidc, oidcIssuer: 'http://127.0.0.1:8080' }, true).oidc?.audience, 'halogrid');
});

const refused: [options: OtherIdentityOptions, tokens: boolean, sentence: RegExp][] = [
  [{ oidcIssuer: oidc.oidcIssuer }, true, /^Expected --oidc-audience with --oidc-issuer but received none$/],
  [{ oidcAudience: 'x' }, true, /^Expected --oidc-issuer with --oidc-audience but received none$/],
  [{ oidcName: 'email' }, true, /^Expected --oidc-issuer with --oidc-name but received none$/],
  [{ identityHeader: 'X-User' }, true, /^Expected --trusted-proxy with --identity-header but received none$/],
  [{ trustedProxy: ['10.0.0.1'] }, true, /^Expected --identity-header with --trusted-proxy but received none$/],
  [oidc, false, /^Expected --tokens with --oidc-issuer but received none: nodes show tokens of that file$/],
  [proxy, false, /^Expected --tokens with --identity-header/],
  [{ ...oidc, oidcIssuer: 'http://id.example.org' }, true, /^Expected an https URL for --oidc-issuer but/],
  [{ ...oidc, oidcIssuer: 'id' }, true, /^Expected an https URL for --oidc-issuer but received 'id'$/],
  [{ ...proxy, identityHeader: 'Authorization' }, true, /^Expected the name of a header such as X-Forwarded-User/],
  [{ ...proxy, trustedProxy: ['10.0.0.0/33'] }, true, /for --trusted-proxy but received '10\.0\.0\.0\/33'$/],
  [{ ...proxy, trustedProxy: ['proxy.example'] }, true, /^Expected an address or a network such as 10\.0\.0\.7 or/],
];
for (const [options, tokens, sentence] of refused) {
  test(`${JSON.stringify(options)} ${tokens ? 'with' : 'without'} tokens is refused`, () => {
    assert.throws(
      () => readOtherIdentities(options, tokens),
      (error: Error) => error instanceof UsageError && sentence.test(error.message),
    );
  });
}

test('a header names a caller only if a trusted proxy sends it', () => {
  const rules = parseOwners('ann role=submit\n', 'here');
  const { header, proxies } = readOtherIdentities(proxy, true).proxy!;
  const access = identifiedAccess([proxyIdentity({ header, proxies }, () => rules)]);
  const admit = (from: string, name: string | undefined, needed: 'read' | 'submit' = 'read') =>
    access.admit({ header: (asked) => (asked === header ? name : undefined), from }, needed);
  for (const from of ['10.1.2.3:4000', '::ffff:10.1.2.3:4000', 'fd00::7:4000', '[fd00::7]:4000']) {
    assert.deepEqual(admit(from, 'ann', 'submit').caller, { name: 'ann', role: 'submit' }, from);
  }
  assert.equal(admit('10.1.2.3:1', 'bob').caller?.role, 'read');
  assert.equal(admit('10.1.2.3:1', 'bob', 'submit').denial?.kind, 'forbidden');
  for (const from of ['11.0.0.1:1', 'fd00::8:1', '127.0.0.1:1', 'unknown', '']) {
    assert.match(
      admit(from, 'ann').denial!.sentence,
      /^The header X-Forwarded-User counts only from a --trusted-proxy/,
    );
  }
  assert.match(admit('10.0.0.1:1', undefined).denial!.sentence, /^Expected a token with the role 'read'/);
  for (const name of ['', 'ann, root', 'a\tb', 'x'.repeat(201)]) {
    assert.match(admit('10.0.0.1:1', name).denial!.sentence, /is not a name without blanks$/);
  }
  assert.equal(noRules.others.role, 'read');
});
