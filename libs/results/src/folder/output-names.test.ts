import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OutputNames } from './output-names.ts';

function outputNames(sources: string[]): string[] {
  const names = new OutputNames();
  return sources.map((source) => names.next(source));
}

test('names are stems, then file names, then numbered', () => {
  const table: [sources: string[], names: string[]][] = [
    [
      ['a.png', 'b.tar.gz', 'c'],
      ['a', 'b.tar', 'c'],
    ],
    [
      ['a.png', 'a.jpg', 'a.jpg', 'A.JPG', 'a.jpg'],
      ['a', 'a.jpg', 'a-2', 'A-3', 'a-4'],
    ],
    [
      ['cam1/0001.jpg', 'cam2/0001.jpg', 'cam1-0001.png'],
      ['cam1-0001', 'cam2-0001', 'cam1-0001.png'],
    ],
    [
      ['../../etc/passwd', '..', '.hidden.png', ''],
      ['etc-passwd', 'source', 'hidden', 'source-2'],
    ],
    [
      ['a b:c*?.png', 'Ünïcøde 日本.tif'],
      ['a_b_c__', 'Ünïcøde_日本'],
    ],
    [
      ['dir.d/file', 'c:\\x\\y.png'],
      ['dir.d-file', 'c_-x-y'],
    ],
  ];
  for (const [sources, names] of table) assert.deepEqual(outputNames(sources), names);
});

test('names of any sources are unique without regard to case, safe, and not too long for a file system', () => {
  const part = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('..', '.', 'a', 'A', 'b.png', 'a-2', 'x'.repeat(300)),
  );
  const source = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(fc.array(source, { maxLength: 12 }), (sources) => {
      const names = outputNames(sources);
      assert.equal(new Set(names.map((name) => name.toLowerCase())).size, sources.length);
      for (const name of names) {
        assert.match(name, /^[\p{L}\p{M}\p{N}_-][\p{L}\p{M}\p{N}._-]*$/u);
        assert.ok(Buffer.byteLength(name) <= 210);
      }
    }),
  );
});

test('a name depends only on the sources before it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a.png', 'a.jpg', 'b/a.png', 'b-a'), { maxLength: 9 }),
      fc.nat(9),
      (sources, n) => {
        assert.deepEqual(outputNames(sources.slice(0, n)), outputNames(sources).slice(0, n));
      },
    ),
  );
});

test('a name that is too long keeps its end', () => {
  const [name] = outputNames([`${'folder/'.repeat(60)}frame-0042.jpg`]);
  assert.match(name!, /-frame-0042$/);
});

test('names out of order are unique, too, after thousands in order', () => {
  const ordered = Array.from({ length: 9000 }, (_, i) => `Cam/frame-${String(i).padStart(8, '0')}.jpg`);
  const late = ['cam/FRAME-00000000.png', 'cam/frame-00008999.jpg', 'cam/frame-00008999.jpg', 'a.jpg'];
  assert.deepEqual(outputNames([...ordered, ...late]).slice(-4), [
    'cam-FRAME-00000000.png',
    'cam-frame-00008999.jpg',
    'cam-frame-00008999-2',
    'a',
  ]);
});
