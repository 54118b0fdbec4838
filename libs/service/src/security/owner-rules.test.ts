import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { UsageError } from '../usage-error.ts';
import { noRules, parseOwners, rulesOf } from './owner-rules.ts';
import { readOwners, watchOwners } from './owners-file.ts';
import { secretFolder } from './testing/secrets.ts';

test('a line limits its owner, and the line of * everybody else and what other lines leave out', () => {
  const rules = parseOwners('# people\n*     jobs=20 credit=64GB\n\nann   jobs=100\tpriority=-5 role=admin\n', 'here');
  const others = { role: 'read', jobs: 20, creditBytes: 64e9, priority: Number.POSITIVE_INFINITY };
  assert.deepEqual(rulesOf(rules, 'bob'), others);
  assert.deepEqual(rulesOf(rules, 'ann'), { ...others, role: 'admin', jobs: 100, priority: -5 });
  assert.deepEqual(parseOwners('', 'here'), noRules);
  assert.equal(rulesOf(parseOwners('ann credit=1.5MB', 'here'), 'ann').creditBytes, 1_500_000);
  assert.equal(rulesOf(parseOwners('ann', 'here'), 'ann').jobs, Number.POSITIVE_INFINITY);
});

for (const [line, expected] of [
  ['ann jobs', /^Expected NAME role=… jobs=… credit=… priority=… in line 2 of here$/],
  ['ann constructor=1', /^Expected NAME role=…/],
  ['ann jobs=many', /^Expected a whole number of at most 999999 for jobs in line 2 of here$/],
  ['ann jobs=-1', /for jobs/],
  ['ann credit=64', /^Expected a size such as 512MB or 64GB for credit in line 2/],
  ['ann priority=101', /^Expected -100 to 100 for priority/],
  ['ann role=root', /^Expected one of admin, submit, node, read for role/],
  ['bob jobs=2', /^Expected one line for 'bob', but found another in line 2/],
] as const) {
  test(`'${line}' is refused: ${expected.source}`, () => {
    assert.throws(
      () => parseOwners(`bob jobs=1\n${line}`, 'here'),
      (error: Error) => error instanceof UsageError && expected.test(error.message),
    );
  });
}

test('a file is read again when it changes; a wrong one leaves the last good rules, with a warning', (t) => {
  const path = join(secretFolder(t), 'owners');
  const warnings: string[] = [];
  let now = 0;
  writeFileSync(path, 'ann jobs=1\n', { mode: 0o644 });
  const rules = watchOwners(
    path,
    (sentence) => warnings.push(sentence),
    () => now,
  );
  const first = rules();
  assert.equal(rulesOf(first, 'ann').jobs, 1);
  assert.equal(rules(), first);
  writeFileSync(path, 'ann jobs=22\n');
  now += 1_000;
  assert.equal(rulesOf(rules(), 'ann').jobs, 22);
  writeFileSync(path, 'ann jobs=none\n');
  now += 1_000;
  assert.equal(rulesOf(rules(), 'ann').jobs, 22);
  assert.match(warnings.join('\n'), /^The rules of owners stay as they were: Expected a whole number .* in line 1/);
  chmodSync(path, 0o666);
  assert.throws(() => readOwners(path), /can be changed by other users: 'chmod go-w /);
  assert.throws(() => readOwners(`${path}.none`), /\(--owners\) cannot be read: ENOENT/);
});
