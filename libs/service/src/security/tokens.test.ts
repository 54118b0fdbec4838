import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { UsageError } from '../usage-error.ts';
import { roles } from './roles.ts';
import { findToken, parseTokens } from './tokens.ts';

const word = fc.stringMatching(/^[\x21-\x7e]{16,40}$/).filter((token) => !token.startsWith('sha256:'));
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,10}$/);

test('the example of the manual, with a SHA-256 as sha256sum gives it', () => {
  const sum = '06d7bb9f0dc83bae4de30f3a2dbb1f5c2c9d6bbb5bea8aab8ed0bc4dc8b9f1d0';
  const entries = parseTokens(
    `# tokens\n\nsubmit alice sha256:${sum} 2030-01-01\nnode rack1 0123456789abcdef\n`,
    'here',
  );
  assert.deepEqual(
    entries.map(({ role, name: whose, expiresMs }) => [role, whose, expiresMs]),
    [
      ['submit', 'alice', 1_893_456_000_000],
      ['node', 'rack1', undefined],
    ],
  );
  assert.equal(entries[0]!.digest.toString('hex'), sum);
  // printf 0123456789abcdef | sha256sum
  assert.equal(entries[1]!.digest.toString('hex'), '9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f');
});

test('every token of a file is found with its role, and no other is', () => {
  const line = fc.record({ role: fc.constantFrom(...roles), name, token: word });
  fc.assert(
    fc.property(
      fc.uniqueArray(line, { selector: ({ token }) => token, minLength: 1, maxLength: 8 }),
      word,
      (lines, other) => {
        const entries = parseTokens(lines.map((l) => `${l.role}\t${l.name}  ${l.token}`).join('\n'), 'here');
        for (const { role, token } of lines) assert.equal(findToken(entries, token)?.role, role);
        if (!lines.some(({ token }) => token === other)) assert.equal(findToken(entries, other), undefined);
      },
    ),
  );
});

const secret = 'very-secret-token-0123';
for (const [line, expected] of [
  [`root alice ${secret}`, /one of admin, submit, node, read as the role in line 2/],
  [`submit ${secret}`, /ROLE NAME TOKEN \[EXPIRES\] in line 2/],
  [`submit alice ${secret} 2030-01-01 more`, /ROLE NAME TOKEN/],
  [`submit alice ${secret} tomorrow`, /a time such as/],
  [`submit alice ${secret} 2030-13-01`, /a time such as/],
  ['submit alice short', /at least 16 characters/],
  [`submit alice sha256:${secret}`, /64 hexadecimal digits/],
  [`read bob ${secret}\nnode carol ${secret}`, /no token twice, but found one again in line 3/],
] as const) {
  test(`'${line.split(' ')[0]} …' is refused without the secret: ${expected.source}`, () => {
    assert.throws(
      () => parseTokens(`# first\n${line}`, 'here'),
      (error: unknown) =>
        error instanceof UsageError && expected.test(error.message) && !error.message.includes(secret),
    );
  });
}

test('a file without a token is refused, because nobody could use the server', () => {
  assert.throws(() => parseTokens('# none\n', 'here'), /at least one token in here/);
});
