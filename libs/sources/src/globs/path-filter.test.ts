import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFilter } from './check-filter.ts';
import { PathFilter } from './path-filter.ts';
import { imagesBelow, selectionBelow } from './selection.ts';

const paths = [
  'a.png',
  'b.jpg',
  'cam1/1.png',
  'cam1/2.jpg',
  'cam1/old/3.png',
  'cam2/old/.x/4.png',
  'cam2/1.png',
  's3://bucket/cam2/5.png',
];

/** [include, exclude, places in `paths` of what is taken]. */
const table: [string[], string[], number[]][] = [
  [[], [], [0, 1, 2, 3, 4, 5, 6, 7]],
  [['*.png'], [], [0, 2, 4, 5, 6, 7]],
  [['/*.png'], [], [0]],
  [['./a.png'], [], [0]],
  [['cam1'], [], [2, 3, 4]],
  [['cam1/'], ['old'], [2, 3]],
  [['cam1/*'], [], [2, 3, 4]],
  [['cam?/*.png'], [], [2, 6]],
  [['cam1/**'], ['*.jpg'], [2, 4]],
  [['**/old/**'], [], [4, 5]],
  [[], ['cam1', 'cam2'], [0, 1]],
  [[], ['/cam2'], [0, 1, 2, 3, 4, 7]],
  [[], ['{a,b}.*', 'old/'], [2, 3, 6, 7]],
  [['cam1', 'a.png'], ['cam1/old'], [0, 2, 3]],
  [['CAM1'], [], []],
  [[], ['*'], []],
];

test('a filter takes what an include fits and no exclude does', () => {
  for (const [include, exclude, expected] of table) {
    const filter = new PathFilter({ include, exclude });
    const taken = paths.flatMap((path, i) => (filter.takes(path) ? [i] : []));
    assert.deepEqual(taken, expected, JSON.stringify({ include, exclude }));
  }
});

test('a walk with a filter takes the same files below folders that it enters', () => {
  for (const [include, exclude, expected] of table) {
    const selection = new PathFilter({ include, exclude }).within(imagesBelow);
    for (const [i, path] of paths.slice(0, 7).entries()) {
      const names = path.split('/');
      const file = names.pop()!;
      const isTaken = selectionBelow(selection, names)?.takes(file) ?? false;
      // imagesBelow enters no hidden folder.
      assert.equal(isTaken, expected.includes(i) && i !== 5, `${path} ${JSON.stringify({ include, exclude })}`);
    }
  }
});

test('only what would be an input otherwise is said to be left out', () => {
  const selection = new PathFilter({ include: ['*.png', 'cam1/*'], exclude: ['old'] }).within(imagesBelow);
  assert.equal(selection.leavesOut?.('a.jpg', 'file'), true);
  assert.equal(selection.leavesOut?.('a.txt', 'file'), false);
  assert.equal(selection.leavesOut?.('a.png', 'file'), false);
  assert.equal(selection.leavesOut?.('old', 'folder'), true);
  assert.equal(selection.leavesOut?.('old', 'other'), true);
  assert.equal(selection.leavesOut?.('@eaDir', 'folder'), false);
  assert.equal(selection.leavesOut?.('new', 'folder'), false);
  const cam1 = new PathFilter({ include: ['cam1/*'], exclude: [] }).within(imagesBelow);
  assert.equal(cam1.leavesOut?.('cam2', 'folder'), true);
});

test('a wrong glob is refused with its place and the reason', () => {
  const example = "a glob of paths below a folder, such as '*.png' or 'cam1/**',";
  const refusals: [string, string][] = [
    ['[z-a]', "the range 'z-a' runs backwards"],
    ['../x', "it leads out of the folder with '..'"],
    ['', 'it has no name'],
    ['/', 'it has no name'],
  ];
  for (const [glob, why] of refusals) {
    const message = `Expected ${example} for filter.exclude[1] but received '${glob}': ${why}`;
    assert.throws(() => checkFilter({ include: [], exclude: ['*', glob] }), { name: 'FilterError', message });
  }
  const many = Array.from({ length: 100 }, (_, i) => `${i}${'*a'.repeat(300)}`);
  assert.throws(() => checkFilter({ include: many, exclude: [] }), /for filter.include but received '100 globs': Exp/);
  const braces = Array.from({ length: 20 }, () => `{0..9999}${'x'.repeat(50)}`);
  assert.throws(() => checkFilter({ include: braces, exclude: [] }), /characters of all alternatives in the braces/);
});
