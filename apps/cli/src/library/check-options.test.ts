import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRunOptions } from './check-options.ts';
import { runCommand } from './read-run.ts';

const check = (given: unknown) => checkRunOptions(given as never, runCommand().options);

test('what the types allow is accepted', () => {
  for (const more of [
    { op: ['conv:kernel=box-3,as=u8', 'lbp'], grid: '4x6', tile: 512, fresh: false, from: '0:10', map: undefined },
    { pipelines: { a: 'lbp', b: ['lbp'] }, grid: { rows: 1, columns: 2 }, maxQuarantined: '1%', gpu: 'all' },
    { signal: AbortSignal.abort(), note: () => {}, sourceGrace: 0 },
  ]) {
    for (const sources of ['a', ['a', 'b']]) assert.deepEqual(check({ sources, ...more }), { sources, ...more });
  }
});

const table: [given: unknown, field: string | undefined, sentence: string][] = [
  [undefined, undefined, "Expected options but received 'undefined': run({ sources: 'photos', op: 'lbp' })"],
  ['photos', undefined, "Expected options but received 'photos': run({ sources: 'photos', op: 'lbp' })"],
  [{}, 'sources', "Expected a path or URI for sources but received none: run({ sources: 'photos', op: 'lbp' })"],
  [{ sources: [] }, 'sources', 'for sources but received none'],
  // The texts may hold passwords.
  [{ sources: ['https://user:secret@host/a.png', null] }, 'sources', "for sources but received 'null'"],
  [{ source: 'a' }, 'source', "for an option of run but received 'source' (did you mean sources?)"],
  [{ sources: 'a', mapFormat: 'png' }, 'mapFormat', "but received 'mapFormat' (did you mean map?)"],
  [{ sources: 'a', constructor: 1 }, 'constructor', "received 'constructor'"],
  [{ sources: 'a', fresh: 'no' }, 'fresh', "Expected true or false for fresh but received 'no'"],
  [{ sources: 'a', tile: true }, 'tile', "Expected a text or a number for tile but received 'true'"],
  [{ sources: 'a', tile: null }, 'tile', "received 'null'"],
  [{ sources: 'a', op: { kernel: 'lbp' } }, 'op', 'Expected a kernel, or a list of them, for op'],
  [{ sources: 'a', pipelines: {} }, 'pipelines', "such as { codes: 'lbp' }, for pipelines but received '{}'"],
  [{ sources: 'a', grid: [4, 6] }, 'grid', "Expected '4x6' or { rows: 4, columns: 6 } for grid but received '[4,6]'"],
  [{ sources: 'a', grid: { row: 4, columns: 6 } }, 'grid', "for grid but received '{"],
  [{ sources: 'a', signal: {} }, 'signal', "Expected an AbortSignal for signal but received '{}'"],
  [{ sources: 'a', note: 'x' }, 'note', "Expected a function for note but received 'x'"],
];
for (const [given, field, sentence] of table) {
  test(`${JSON.stringify(given)} is refused`, () => {
    assert.throws(
      () => check(given),
      (error: Error & { field?: string; code: string }) => {
        assert.deepEqual([error.name, error.code, error.field], ['HalogridError', 'INVALID_ARGUMENT', field]);
        assert.ok(error.message.includes(sentence), error.message);
        return true;
      },
    );
  });
}
