import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { borderModes } from '../border.ts';
import { planRead } from '../halo.ts';
import { placeItem } from '../plane-item.ts';
import { lbpConventions } from './lbp.ts';
import { lbpWasm } from './lbp-wasm.ts';
import { lbpReference } from './reference.ts';

const tile = fc.record({
  width: fc.integer({ min: 1, max: 120 }),
  height: fc.integer({ min: 1, max: 40 }),
  left: fc.nat(119),
  top: fc.nat(39),
  tileWidth: fc.integer({ min: 1, max: 120 }),
  tileHeight: fc.integer({ min: 1, max: 40 }),
});

test('tiles of any size, place and border equal the CPU twin', () => {
  fc.assert(
    fc.property(
      tile,
      fc.constantFrom(...borderModes),
      fc.constantFrom(...lbpConventions),
      fc.constantFrom(1, 3, 255),
      fc.infiniteStream(fc.nat(255)),
      fc.boolean(),
      (t, border, convention, levels, noise, withMap) => {
        const x = t.left % t.width;
        const y = t.top % t.height;
        const rect = { x, y, width: Math.min(t.tileWidth, t.width - x), height: Math.min(t.tileHeight, t.height - y) };
        const { item, end } = placeItem(planRead(rect, t, 1, border), 0);
        const bytes = Uint8Array.from({ length: end }, () => noise.next().value! % (levels + 1));
        const expected = lbpReference({ convention }, border, bytes, item, withMap);
        assert.deepEqual(lbpWasm({ convention }, border, bytes, item, withMap), expected);
      },
    ),
    { numRuns: 1000 },
  );
});

test('images wider, higher and larger than a band equal the CPU twin', () => {
  for (const size of [
    { width: 200_000, height: 3 },
    { width: 1, height: 200_000 },
    { width: 1920, height: 1080 },
  ]) {
    const { item, end } = placeItem(planRead({ x: 0, y: 0, ...size }, size, 1, 'mirror'), 0);
    const bytes = Uint8Array.from({ length: end }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 24);
    const parameters = { convention: 'nw-cw-msb' };
    assert.deepEqual(
      lbpWasm(parameters, 'mirror', bytes, item, true),
      lbpReference(parameters, 'mirror', bytes, item, true),
    );
  }
});

test('the committed WebAssembly is what its source compiles to', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-wasm-'));
  t.after(() => rmSync(folder, { recursive: true }));
  execFileSync(fileURLToPath(new URL('../../compile.sh', import.meta.url)), [folder]);
  const committed = readFileSync(new URL('./lbp.wasm', import.meta.url));
  assert.deepEqual(readFileSync(join(folder, 'lbp/lbp.wasm')), committed);
});
