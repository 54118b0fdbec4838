import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metadata } from '@grpc/grpc-js';
import { named, sentence } from '@halogrid/proto/sentence';
import fc from 'fast-check';
import { readRefusal, refusalMetadata } from './refusal-metadata.ts';

test('a refusal arrives with its field and the names in its sentence, or as plain text if it is long', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 2_500 }), (value) => {
      const said = sentence`Expected ${named('a.b')} for ${named('c[0]')} but received '${value}'`;
      const metadata = refusalMetadata(said, 'c[0]');
      const read = readRefusal(String(said), metadata);
      assert.deepEqual([String(read.sentence), read.field], [String(said), 'c[0]']);
      const short = encodeURI(String(said)).length < 2_000;
      if (short) assert.deepEqual(read.sentence.parts, said.parts);
    }),
  );
});

test('the answer of another program is taken as the sentence', () => {
  const metadata = new Metadata();
  assert.deepEqual(readRefusal('x', undefined).sentence.parts, ['x']);
  assert.deepEqual(readRefusal('x', metadata), { sentence: sentence`x` });
  metadata.set('halogrid-sentence-bin', Buffer.from('no JSON'));
  assert.deepEqual(readRefusal('x', metadata), { sentence: sentence`x` });
});
