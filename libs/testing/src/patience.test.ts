import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { testLimitMs, timeoutMs, waitLimitMs } from './patience.ts';

test('a timeout is as long as on an idle machine, or longer', () => {
  assert.ok(timeoutMs(1_000) >= 1_000);
  assert.ok(Number.isInteger(timeoutMs(2.5)));
});

test('a test may take longer than a wait in it, so that the wait can say what it waited for', () => {
  assert.ok(testLimitMs > 2 * waitLimitMs);
});

for (const [setting, factor] of [
  ['4', 4],
  ['0.5', 1],
] as const) {
  test(`with HALOGRID_PATIENCE=${setting} limits are ${factor} times as long`, () => {
    const program = `
      import { testLimitMs, timeoutMs, waitLimitMs } from '${new URL('patience.ts', import.meta.url)}';
      console.log(JSON.stringify({ testLimitMs, waitLimitMs, timeout: timeoutMs(1_000) }));`;
    const env = { ...process.env, HALOGRID_PATIENCE: setting };
    const said = JSON.parse(String(execFileSync(process.execPath, ['--input-type=module', '-e', program], { env })));
    const plain = Number(process.env.HALOGRID_PATIENCE ?? 1);
    assert.equal(said.waitLimitMs, (waitLimitMs / Math.max(1, plain)) * factor);
    assert.equal(said.testLimitMs, (testLimitMs / Math.max(1, plain)) * factor);
    assert.ok(said.timeout >= 1_000 * factor);
  });
}
