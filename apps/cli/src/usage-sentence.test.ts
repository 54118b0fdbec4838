import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageSentence } from './usage-sentence.ts';

const table = [
  ["error: unknown option '--jsn'\n(Did you mean --json?)", "Unknown option '--jsn' (did you mean --json?)"],
  ["error: unknown option '--x'", "Unknown option '--x'"],
  ["error: missing required argument 'source'", "Missing required argument 'source'"],
  [
    "error: too many arguments for 'status'. Expected 1 argument but got 2.",
    "Too many arguments for 'status': expected 1 argument but got 2",
  ],
  [
    "error: unknown command 'nod'\n(Did you mean one of node, nodes?)",
    "Unknown command 'nod' (did you mean one of node, nodes?)",
  ],
] as const;

for (const [message, sentence] of table) test(sentence, () => assert.equal(usageSentence(message), sentence));
