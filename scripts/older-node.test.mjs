import assert from 'node:assert/strict';
import { test } from 'node:test';

RegExp.escape = undefined;
await import('./older-node.mjs');

test('escaped text matches exactly itself in an expression, with and without Unicode flags', () => {
  const characters = Array.from({ length: 0x250 }, (_, code) => String.fromCodePoint(code));
  for (const text of [...characters, 'cam{camera}/%Y-%m', 'a.b*c', '𝄞-1']) {
    for (const flags of ['', 'u', 'v']) {
      const expression = new RegExp(`^${RegExp.escape(text)}$`, flags);
      assert.ok(expression.test(text), `${expression}`);
      assert.ok(!expression.test(`${text}x`), `${expression}`);
    }
  }
});
