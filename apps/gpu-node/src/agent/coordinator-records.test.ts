import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoordinatorRecords } from './coordinator-records.ts';

/** Looks up what the test says; an error where it says nothing. */
function setRecords(given: string[], records: Record<string, string[]>) {
  const lookup = async (host: string) => {
    const found = records[host];
    if (!found) throw new Error(`queryA ENOTFOUND ${host}`);
    return found;
  };
  return new CoordinatorRecords(given, lookup);
}

test('a name of several addresses stands for each, a name of one for itself', async () => {
  const given = ['many:7070', 'one:7070', '10.0.0.9:7070', '[fd00::9]:7070', 'localhost:7070', 'none:7070'];
  const records = setRecords(given, { many: ['10.0.0.2', '10.0.0.1'], one: ['10.0.0.3'], localhost: ['a', 'b'] });
  assert.deepEqual(await records.addresses(), [
    '10.0.0.1:7070',
    '10.0.0.2:7070',
    'one:7070',
    '10.0.0.9:7070',
    '[fd00::9]:7070',
    'localhost:7070',
    'none:7070',
  ]);
  assert.deepEqual(['10.0.0.1:7070', '10.0.0.9:7070', 'one:7070'].map(records.nameOf), ['many', undefined, undefined]);
  assert.equal(records.mayChange, true);
  assert.equal(setRecords(['10.0.0.9:1', '[::1]:1', 'localhost:1'], {}).mayChange, false);
});

test('addresses follow the name, and stay while nobody knows it', async () => {
  const found: Record<string, string[]> = { many: ['10.0.0.1'] };
  const records = setRecords(['many:7070'], found);
  const steps: [string[] | undefined, string[]][] = [
    [['10.0.0.1'], ['many:7070']],
    [undefined, ['many:7070']],
    [
      ['10.0.0.1', '10.0.0.2'],
      ['10.0.0.1:7070', '10.0.0.2:7070'],
    ],
    [['10.0.0.1'], ['10.0.0.1:7070']],
    [undefined, ['10.0.0.1:7070']],
    [
      ['10.0.0.3', '10.0.0.1'],
      ['10.0.0.1:7070', '10.0.0.3:7070'],
    ],
  ];
  for (const [now, expected] of steps) {
    if (now) found.many = now;
    else delete found.many;
    assert.deepEqual(await records.addresses(), expected);
  }
});
