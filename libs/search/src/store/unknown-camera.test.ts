import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnknownCamera } from './unknown-camera.ts';

const many = Array.from({ length: 23 }, (_, i) => `c${i + 10}`);
const table: [known: string[], list: string][] = [
  [['gate'], "its camera is 'gate'"],
  [['yard', 'gate'], "its cameras are 'gate' and 'yard'"],
  [['yard', 'gate', 'door'], "its cameras are 'door', 'gate' and 'yard'"],
  [
    many,
    `its cameras are ${many
      .slice(0, 20)
      .map((name) => `'${name}'`)
      .join(', ')} and 3 more`,
  ],
];

for (const [known, list] of table) {
  test(`a camera that is none of ${known.length}`, () =>
    assert.equal(
      new UnknownCamera('The index', 'gaet', known).message,
      `The index has no frame of camera 'gaet': ${list}`,
    ));
}
