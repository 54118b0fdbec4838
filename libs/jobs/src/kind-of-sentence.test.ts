import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindOfSentence } from './kind-of-sentence.ts';

const same: [what: string, sentences: string[]][] = [
  [
    'numbers',
    [
      'The file is truncated: it ends at byte 7, inside the image',
      'The file is truncated: it ends at byte 99321, inside the image',
    ],
  ],
  ['sizes', ['60000x60000 is 3600000000 pixels, more than 268435456', '7x5 is 35 pixels, more than 268435456']],
  ['separators', ['It took 1.5 s of 1,000', 'It took 22 s of 3']],
  ['names in quotes', ["'/data/a b.png' does not exist", "'x' does not exist"]],
  ['quotes in names', ["'it's a dog's.png' does not exist", "'y.png' does not exist"]],
  [
    'text in double quotes',
    ['Not an image: it starts with text "These are"', 'Not an image: it starts with text "Dear Sir"'],
  ],
  ['hex', ['The tag 0x1F is unknown', 'The tag 0xa0b is unknown']],
  ['digests', ['It is 6afe0c99ab now', 'It is 01d4b7fe22 now']],
  ['paths', ['EACCES: permission denied, open /data/cam 1', 'EACCES: permission denied, open /other/place/7 1']],
  ['paths before a colon', ['/data/a.png: no space', '../b/c.png: no space']],
  ['URIs', ['https://a.example/x?k=1 answered 403', 's3://bucket/key/y.png answered 404']],
];

for (const [what, sentences] of same) {
  test(`sentences that differ in ${what} are of one kind`, () => {
    assert.equal(new Set(sentences.map(kindOfSentence)).size, 1, sentences.map(kindOfSentence).join(' ≠ '));
  });
}

test('sentences that differ in words are of several kinds', () => {
  const sentences = [
    'The file is empty (0 bytes)',
    "'a.png' does not exist",
    "'a.png' is a folder",
    "It doesn't end and can't be read",
    "It doesn't begin and can't be read",
    'A facade of gray and/or red',
    'A facade of gray and/or blue',
  ];
  assert.equal(new Set(sentences.map(kindOfSentence)).size, sentences.length);
});
