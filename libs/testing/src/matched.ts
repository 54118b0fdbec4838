import assert from 'node:assert/strict';

/**
 * What a pattern finds in what a program said, with its groups. Where it finds nothing, the test fails and shows what
 * was said.
 */
export function matched(said: string, pattern: RegExp): RegExpExecArray {
  assert.match(said, pattern);
  return pattern.exec(said)!;
}
