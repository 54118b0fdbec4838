import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf } from '@halogrid/proto/json';
import { optionOfField } from './option-of-field.ts';

test('every field of a specification has a name on the command line', () => {
  for (const { name, message } of messageOf('JobSpec').fields) {
    const ofMessage = ['video', 'captured', 'share', 'filter'].includes(name)
      ? message!.fields.map((inner) => `${name}.${inner.name}`)
      : [];
    for (const field of ofMessage.length > 0 ? ofMessage : [name])
      assert.match(optionOfField(field), /^(--[a-z-]+|SOURCE)$/, field);
  }
});

const table: [field: string, option: string][] = [
  ['sources', 'SOURCE'],
  ['sources[2]', 'SOURCE 3'],
  ['op[0]', '--op'],
  ['pipeline.operations[0].parameters.matrix', '--op'],
  ['pipeline.operations[1].border', '--border'],
  ['pipelines.named[1].op[0]', '--pipeline'],
  ['grid.rows', '--grid'],
  ['band.numbers', '--band'],
  ['scale', '--scale'],
  ['max_quarantined.percent', '--max-quarantined'],
  ['video.to_ms', '--to'],
  ['captured.zone', '--captured-zone'],
  ['filter.exclude[1]', '--exclude'],
  ['video.colour', 'video.colour'],
  ['job_id', 'job_id'],
  ['constructor', 'constructor'],
  ['', ''],
];
for (const [field, option] of table) {
  test(`${field || 'no field'} is ${option || 'none'} there`, () => assert.equal(optionOfField(field), option));
}
