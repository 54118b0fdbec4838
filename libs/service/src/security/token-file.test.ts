import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { identifiedAccess, tokenIdentity } from './access.ts';
import { type Role, roles } from './roles.ts';
import { TokenFile } from './token-file.ts';

const first = 'first-token-0123456789';
const second = 'second-token-0123456789';

function setUp(t: TestContext, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-tokens-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'tokens');
  writeFileSync(path, text, { mode: 0o600 });
  const clock = { now: 0, wall: Date.parse('2030-01-01T00:00:00Z') };
  const warnings: string[] = [];
  const file = new TokenFile(path, (sentence) => warnings.push(sentence), 0);
  const access = identifiedAccess([tokenIdentity(file, { monotonicMs: () => clock.now, wallMs: () => clock.wall })]);
  const check = (token: string, role: Role = 'read') =>
    access.admit({ header: () => `Bearer ${token}`, from: '' }, role).denial;
  return { path, clock, warnings, check };
}

test('tokens are rotated by replacing the file, within a second', (t) => {
  const { path, clock, check, warnings } = setUp(t, `submit alice ${first}\n`);
  assert.equal(check(first), undefined);
  assert.equal(check(second)?.kind, 'unauthenticated');
  writeFileSync(`${path}.new`, `submit alice ${second}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  clock.now = 1_000;
  assert.equal(check(second), undefined);
  assert.equal(check(first)?.kind, 'unauthenticated');
  assert.deepEqual(warnings, []);
});

test('a file that becomes wrong, open to others or missing leaves the last good tokens, with one warning', (t) => {
  const { path, clock, check, warnings } = setUp(t, `submit alice ${first}\n`);
  const spoil = [
    () => writeFileSync(path, 'nonsense\n'),
    () => writeFileSync(path, `read bob ${second}\n`) ?? chmodSync(path, 0o644),
    () => rmSync(path),
  ];
  for (const [index, act] of spoil.entries()) {
    act();
    for (let look = 0; look < 3; look++) {
      clock.now += 1_000;
      assert.equal(check(first), undefined);
      assert.equal(check(second)?.kind, 'unauthenticated');
    }
    assert.equal(warnings.length, index + 1);
  }
  assert.match(warnings[0]!, /^The tokens stay as they were: Expected ROLE NAME TOKEN/);
  assert.match(warnings[1]!, /is open to other users \(mode 0644\)/);
  assert.match(warnings[2]!, /cannot be read: ENOENT/);
  assert.ok(!warnings.join().includes(second));
});

test('a token is good until it expires', (t) => {
  const { clock, check } = setUp(t, `read alice ${first} 2030-01-01T00:00:01Z\n`);
  assert.equal(check(first), undefined);
  clock.wall += 1_000;
  const sentence = "The token of 'alice' expired at 2030-01-01T00:00:01.000Z";
  assert.deepEqual(check(first), { kind: 'unauthenticated', sentence, name: 'alice' });
});

test('a caller may do exactly what its role includes', (t) => {
  const tokens = {
    admin: 'admin-0123456789abcdef',
    submit: 'submit-0123456789abcdef',
    node: 'node-0123456789abcdef',
    read: 'read-0123456789abcdef',
  };
  const { check } = setUp(
    t,
    Object.entries(tokens)
      .map(([role, token]) => `${role} ${role} ${token}\n`)
      .join(''),
  );
  const allowed = new Set([
    'admin admin',
    'admin submit',
    'admin read',
    'submit submit',
    'submit read',
    'node node',
    'read read',
  ]);
  for (const held of roles) {
    for (const needed of roles) {
      const kind = allowed.has(`${held} ${needed}`) ? undefined : 'forbidden';
      assert.equal(check(tokens[held], needed)?.kind, kind, `${held} for ${needed}`);
    }
  }
});

for (const mode of [0o640, 0o604, 0o660, 0o622]) {
  test(`a file of tokens with mode ${mode.toString(8)} is refused at once`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'halogrid-tokens-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'tokens');
    writeFileSync(path, `read alice ${first}\n`);
    chmodSync(path, mode);
    assert.throws(() => new TokenFile(path, assert.fail, 0), /is open to other users \(mode 06\d\d\): 'chmod 600/);
  });
}
