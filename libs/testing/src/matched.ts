import assert from 'node:assert/strict';

/**
 * The match of a pattern in a program's output, with its groups. Without a match the test fails and shows the output.
 */
export function matched(said: string, pattern: RegExp): RegExpExecArray {
  assert.match(said, pattern);
  return pattern.exec(said)!;
}
