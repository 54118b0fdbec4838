import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareNatural } from '@halogrid/sources/natural-order';
import fc from 'fast-check';
import { OutputNames } from './output-names.ts';

function outputNames(sources: string[]): string[] {
  const given: string[] = [];
  const names = new OutputNames(() => given);
  for (const source of sources) given.push(names.next(source));
  return given;
}

test('names of UTF-8 are those of strings, whatever came before', () => {
  const name = fc.oneof(
    fc.constantFrom('a/1.jpg', 'a/2.jpg', 'A/2.jpg', 'a/10.jpg', 'b.tar.gz', '.b', 'b/.c.png', 'x//y', 'z/', 'd.e/f'),
    fc.nat(50).map((number) => `frame-${number}.jpg`),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom(...'aZ9._-/ '), maxLength: 300 }),
  );
  fc.assert(
    fc.property(fc.array(name), fc.boolean(), fc.nat(3), (drawn, isSorted, before) => {
      const sources = isSorted ? drawn.toSorted(compareNatural) : drawn;
      const given: string[] = [];
      const names = new OutputNames(() => given);
      for (const source of sources) {
        const utf8 = Buffer.from('/'.repeat(before) + source);
        const { bytes, from, end } = names.nextText({ bytes: utf8, from: before, end: utf8.length });
        given.push(bytes.toString('utf8', from, end));
      }
      assert.deepEqual(given, outputNames(sources.map((source) => Buffer.from(source).toString())));
    }),
  );
});

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

test('a name depends on the sources before it alone', () => {
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

test('of a name that is too long the end is kept', () => {
  const [name] = outputNames([`${'folder/'.repeat(60)}frame-0042.jpg`]);
  assert.match(name!, /-frame-0042$/);
});

test('of names in natural order none is kept, and the first out of order asks for those before it once', () => {
  const given: string[] = [];
  let asked = 0;
  const names = new OutputNames(() => {
    asked++;
    return given;
  });
  const next = (name: string): void => void given.push(names.next(name));
  for (let frame = 8; frame < 120; frame++) next(`cam-2/Frame-${frame}.jpg`);
  for (let frame = 8; frame < 12; frame++) next(`cam-10/frame-${frame}.jpg`);
  assert.equal(asked, 0);
  for (const name of ['cam-2/frame-9.jpg', 'cam-2/frame-9.png', 'cam-2/frame-7.jpg', 'cam-10/FRAME-11.jpg']) next(name);
  assert.deepEqual(given.slice(-4), ['cam-2-frame-9.jpg', 'cam-2-frame-9.png', 'cam-2-frame-7', 'cam-10-FRAME-11.jpg']);
  assert.equal(asked, 1);
});
