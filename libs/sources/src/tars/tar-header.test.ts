import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPax } from './tar-header.ts';

// Pure: milliseconds.

const record = (text: string): string => {
  const bytes = Buffer.byteLength(text) + 2;
  const length = bytes + String(bytes + String(bytes).length).length;
  return `${length} ${text}\n`;
};

test('records of an extended header say path, size and sparseness, whatever other records are there', () => {
  const text = record('mtime=1.5') + record('path=a/ü=1.jpg') + record('size=12') + record('GNU.sparse.major=1');
  assert.deepEqual(readPax(Buffer.from(text)), { name: Buffer.from('a/ü=1.jpg'), size: 12, isSparse: true });
  assert.deepEqual(readPax(Buffer.alloc(0)), {});
});

test('records with impossible lengths or sizes are damage', () => {
  const sizes = ['-512', '1e3', '0x10', '', '9'.repeat(16), ' 5'].map((size) => record(`size=${size}`));
  for (const text of [...sizes, '0 path=a\n', '99 path=a\n', 'x', '9 path:a\n', `${record('path=a')}\0`]) {
    assert.equal(readPax(Buffer.from(text)), undefined, text);
  }
});
