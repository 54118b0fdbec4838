import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { identifiedAccess } from './access.ts';
import type { Credentials } from './credentials.ts';
import { OidcIdentity } from './oidc-identity.ts';
import { parseOwners } from './owner-rules.ts';

const nowMs = Date.UTC(2030, 0, 1);
const seconds = nowMs / 1000;

/** An identity provider, an access that knows its tokens, and how often its keys were fetched. */
async function setStage(t: TestContext) {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const stranger = await generateKeyPair('RS256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256' }];
  const provider = { fetched: 0, isAway: false, issuer: '' };
  const server = createServer((request, response) => {
    if (provider.isAway) return void response.writeHead(503).end();
    const isKeys = request.url === '/keys';
    if (isKeys) provider.fetched++;
    const answer = isKeys ? { keys } : { issuer: provider.issuer, jwks_uri: `${provider.issuer}/keys` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  provider.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = { ms: nowMs };
  const rules = parseOwners('* role=submit\nann role=admin\n', 'here');
  const options = { issuer: provider.issuer, audience: 'halogrid', nameClaim: 'email' };
  const oidc = new OidcIdentity(
    options,
    () => rules,
    () => clock.ms,
  );
  const access = identifiedAccess([oidc.identify], oidc.prepare);
  const sign = (claims: Record<string, unknown>, key = privateKey, header = { alg: 'RS256', kid: 'k1' }) =>
    new SignJWT({ iss: provider.issuer, aud: 'halogrid', exp: seconds + 60, ...claims })
      .setProtectedHeader(header)
      .sign(key);
  const of = (token: string): Credentials => ({
    header: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
    from: '',
  });
  const admit = async (token: string, needed: 'read' | 'submit' | 'admin' = 'submit') => {
    await access.prepare!(of(token));
    return access.admit(of(token), needed);
  };
  return { provider, clock, sign, admit, access, of, stranger };
}

test('a token of the provider names its caller, whose role the rules give, until it expires', async (t) => {
  const { provider, clock, sign, admit, access, of } = await setStage(t);
  const bob = await sign({ email: 'bob@example.org' });
  assert.deepEqual((await admit(bob)).caller, { name: 'bob@example.org', role: 'submit' });
  assert.equal((await admit(await sign({ email: 'ann' }), 'admin')).caller?.name, 'ann');
  const { kind, sentence } = (await admit(bob, 'admin')).denial!;
  assert.deepEqual(
    [kind, sentence],
    ['forbidden', "The role of 'bob@example.org' is 'submit', and this needs 'admin'"],
  );
  assert.equal(provider.fetched, 1);
  // Its signature is checked once.
  provider.isAway = true;
  assert.equal(access.prepare!(of(bob)), undefined);
  clock.ms += 71_000;
  assert.match((await admit(bob)).denial!.sentence, /^The token of 'bob@example\.org' expired at 2030-01-01T00:01:10/);
});

test('every other token is refused, with the reason', async (t) => {
  const { sign, admit, stranger } = await setStage(t);
  const email = 'bob';
  const forged = (await sign({ email })).replace(/\.[^.]*\./, `.${btoa('{"email":"root"}').replace(/=+$/, '')}.`);
  const none = `${btoa('{"alg":"none"}').replace(/=+$/, '')}.${btoa('{"email":"root"}').replace(/=+$/, '')}.x`;
  const refused: [token: string, why: RegExp][] = [
    [await sign({ email }, stranger.privateKey), /signature verification failed$/],
    [forged, /signature verification failed$/],
    [none, /"alg" \(Algorithm\) Header Parameter value not allowed$/],
    [await sign({ email, aud: 'mail' }), /unexpected "aud" claim value$/],
    [await sign({ email, iss: 'http://evil.example' }), /unexpected "iss" claim value$/],
    [await sign({ email, exp: seconds - 60 }), /"exp" claim timestamp check failed$/],
    [await sign({ email, exp: undefined }), /missing required "exp" claim$/],
    [await sign({ sub: 'bob' }), /missing required "email" claim$/],
    [await sign({ email: 'a b' }), /its claim 'email' is not a name without blanks$/],
    [await sign({ email: ['bob'] }), /its claim 'email' is not a name/],
  ];
  for (const [token, why] of refused) {
    const { denial } = await admit(token, 'read');
    assert.equal(denial?.kind, 'unauthenticated');
    assert.match(denial.sentence, /^The token is not accepted as one of http:\/\/127\.0\.0\.1:\d+: /);
    assert.match(denial.sentence, why);
    assert.ok(!denial.sentence.includes(token));
  }
  assert.equal((await admit('no-jwt-0123456789')).denial!.sentence, 'The token is not known here');
});

test('a provider that is away is asked again a moment later', async (t) => {
  const { provider, clock, sign, admit } = await setStage(t);
  const token = await sign({ email: 'bob' });
  provider.isAway = true;
  assert.match((await admit(token)).denial!.sentence, /openid-configuration answers with 503$/);
  provider.isAway = false;
  assert.ok((await admit(token)).denial);
  clock.ms += 3_000;
  assert.equal((await admit(token)).caller?.name, 'bob');
});

test('a provider that says it is another one is not believed', async (t) => {
  const { provider, sign, admit } = await setStage(t);
  const token = await sign({ email: 'bob' });
  provider.issuer = 'https://other.example';
  assert.match((await admit(token)).denial!.sentence, /is of 'https:\/\/other\.example', which is another issuer$/);
});
