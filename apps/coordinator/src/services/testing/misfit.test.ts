import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonSchema, messageOf, type Schema } from '@halogrid/proto/json';
import { misfit } from './misfit.ts';

const schemas: Record<string, Schema> = {};
const refer = ({ name }: { name: string }): string => {
  if (!schemas[name]) {
    schemas[name] = {};
    schemas[name] = jsonSchema(messageOf(name), { refer: (message) => refer(message), isAsked: false });
  }
  return `#/components/schemas/${name}`;
};
const of = (name: string): Schema => ({ $ref: refer({ name }) });
const file = { name: 'a', bytes: 1 };

for (const [name, value, why] of [
  ['ResultsAnswer', { files: [file], grpcPort: 7070 }, undefined],
  ['ResultsAnswer', { files: [file] }, 'the answer has no grpcPort'],
  ['ResultsAnswer', { files: [{ ...file, bytes: '1' }], grpcPort: 1 }, 'the answer.files[0].bytes is 1'],
  ['ResultsAnswer', { files: [file], grpcPort: -1 }, 'the answer.grpcPort is -1'],
  ['ResultsAnswer', { files: {}, grpcPort: 1 }, 'the answer.files is not a list'],
  ['ResultsAnswer', { files: [], grpcPort: 1, secret: 1 }, 'the answer has secret, which is not described'],
  ['ErrorAnswer', { error: 'a', code: 'b', parts: ['a'] }, undefined],
  ['ErrorAnswer', { error: 'a', code: 'b', parts: ['a'], field: null }, 'the answer.field is null'],
  ['MayAnswer', { submit: 'yes', why: '', admin: false, name: '' }, 'the answer.submit is yes'],
  [
    'JobTimes',
    { leasedMs: 0, listedMs: 0, computedMs: 0, stageSeconds: { a: Number.NaN }, busySeconds: {} },
    'the answer.stageSeconds.a is NaN',
  ],
] as const) {
  test(`${JSON.stringify(value)} ${why ? 'does not fit' : 'fits'} ${name}`, () => {
    assert.equal(misfit(value, of(name), schemas), why);
  });
}
