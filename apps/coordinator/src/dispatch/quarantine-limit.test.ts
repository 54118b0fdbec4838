import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { whyTooManyQuarantined } from './quarantine-limit.ts';

const inputs = (value: number) => ({ limit: { $case: 'inputs' as const, value } });
const percent = (value: number) => ({ limit: { $case: 'percent' as const, value } });
const none = { frames: 0, shards: 0, shardsDone: 0, attempts: 0, pixels: 0 };
const job = (quarantined: number, sources: number, planned = true) => ({
  planned,
  counts: { ...none, quarantined, sources },
  reasons: [{ stage: 'decode', error: 'The file is empty', inputs: 9, example: 'file:///in/a.png' }],
});

const table: [
  max: ReturnType<typeof inputs> | ReturnType<typeof percent>,
  job: ReturnType<typeof job>,
  fails: boolean,
][] = [
  [inputs(10), job(10, 12), false],
  [inputs(10), job(11, 12), true],
  [inputs(10), job(11, 12, false), true],
  [inputs(0), job(0, 12), false],
  [inputs(0), job(1, 12), true],
  [percent(50), job(6, 12), false],
  [percent(50), job(7, 12), true],
  // Not known before all inputs are listed.
  [percent(50), job(12, 12, false), false],
  // But one is more than 0 %.
  [percent(0), job(1, 12, false), true],
  [percent(100), job(12, 12), false],
  [percent(33.3), job(333, 1000), false],
  [percent(33.3), job(334, 1000), true],
  [percent(50), job(0, 0), false],
];

for (const [max, record, fails] of table) {
  const { planned, counts } = record;
  const { $case, value } = max.limit;
  test(`${counts.quarantined} of ${counts.sources}${planned ? '' : ' so far'} with ${value} ${$case} allowed`, () => {
    assert.equal(whyTooManyQuarantined(max, record) !== undefined, fails);
  });
}

test('the sentence says how many inputs are quarantined, how many may be, and the most frequent reasons', () => {
  assert.equal(
    whyTooManyQuarantined(inputs(10), job(12, 99)),
    'More inputs are quarantined (12) than the job allows (10): 9 of them: The file is empty, e.g. file:///in/a.png; ' +
      '3 for other reasons',
  );
  const reasons = [6, 3, 2, 1].map((inputs) => ({
    stage: 'decode',
    error: `E${inputs}`,
    inputs,
    example: `x${inputs}`,
  }));
  assert.match(
    whyTooManyQuarantined(inputs(10), { ...job(12, 99), reasons })!,
    / allows \(10\): 6 of them: E6, e\.g\. x6; 3 of them: E3, e\.g\. x3; 2 of them: E2, e\.g\. x2; 1 for other reasons$/,
  );
  assert.match(
    whyTooManyQuarantined(percent(2.5), job(12, 99))!,
    /^More inputs are quarantined \(12\) than .* allows \(2\.5% of 99\): /,
  );
});

test('a percentage is exact: as many as it says may be quarantined, one more may not', () => {
  // With P = n / 10^6 and a whole of k 10^8, P percent of it is n k.
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e8 }), fc.integer({ min: 1, max: 20 }), (n, k) => {
      const max = percent(n / 1e6);
      assert.equal(whyTooManyQuarantined(max, job(n * k, k * 1e8)), undefined);
      assert.notEqual(whyTooManyQuarantined(max, job(n * k + 1, k * 1e8)), undefined);
    }),
  );
});
