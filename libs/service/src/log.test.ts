import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLog } from './log.ts';
import { textLogLine } from './text-log-line.ts';

function lastLine(format: 'json' | 'text', act: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  act(createLog('coordinator', 'info', { format, lines: { write: (line) => lines.push(line) } }));
  return lines.join('');
}

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

test('a line of JSON has the name of its level and a time in ISO 8601', () => {
  const line = lastLine('json', (log) => log.warn({ node: 'n1' }, 'A node is lost'));
  const { time, pid, ...rest } = JSON.parse(line);
  assert.match(time, isoTime);
  assert.equal(pid, process.pid);
  assert.deepEqual(rest, { level: 'warn', name: 'coordinator', node: 'n1', msg: 'A node is lost' });
});

test('a line of text has the same facts, and an error its stack', () => {
  const line = lastLine('text', (log) => log.info({ node: 'n 1', shards: 7, held: [1], jobId: 'j' }, 'Two\nlines'));
  const [time, ...words] = line.split(' ');
  assert.match(time!, isoTime);
  assert.equal(words.join(' '), 'INFO coordinator: Two lines node="n 1" shards=7 held=[1] jobId=j\n');
  const failed = lastLine('text', (log) => log.error({ err: new Error('no room') }, 'A call failed'));
  assert.match(failed, /^\S+ ERROR coordinator: A call failed\nError: no room\n {4}at /);
});

test('whatever is logged, a line of text is one line', () => {
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), (msg, facts) => {
      const { err: _, ...others } = facts;
      const text = textLogLine(JSON.stringify({ ...others, level: 'info', time: 't', name: 'n', msg }));
      assert.equal(text.indexOf('\n'), text.length - 1);
    }),
  );
  for (const other of ['Segmentation fault\n', '{"a":1}', '17', 'null']) assert.equal(textLogLine(other), other);
});
