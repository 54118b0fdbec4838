import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MaxQuarantined } from '@halogrid/proto';
import { checkMaxQuarantined } from './check-spec.ts';

test('any number of inputs, any percentage from 0 to 100, or no limit is accepted', () => {
  const good: (MaxQuarantined['limit'] | 'nothing')[] = [
    'nothing',
    { $case: 'inputs', value: 0 },
    { $case: 'inputs', value: 1e9 },
    { $case: 'percent', value: 0 },
    { $case: 'percent', value: 99.5 },
    { $case: 'percent', value: 100 },
  ];
  for (const limit of good) checkMaxQuarantined(limit === 'nothing' ? undefined : { limit });
});

const refused: [limit: MaxQuarantined['limit'], sentence: RegExp][] = [
  [undefined, /^Expected max_quarantined\.inputs or max_quarantined\.percent but received neither$/],
  [{ $case: 'percent', value: 100.5 }, /^Expected 0 to 100 for max_quarantined.percent but received '100.5'$/],
  [{ $case: 'percent', value: -1 }, /received '-1'$/],
  [{ $case: 'percent', value: Number.NaN }, /received 'NaN'$/],
];

for (const [limit, sentence] of refused) {
  test(`${limit?.value} ${limit?.$case} is refused`, () => {
    assert.throws(() => checkMaxQuarantined({ limit }), { name: 'Refusal', kind: 'invalid', message: sentence });
  });
}
