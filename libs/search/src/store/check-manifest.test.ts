import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { SearchIndex } from '../search/search-index.ts';
import { makeIndex, tiedFrames } from '../testing/made-index.ts';
import { IndexError } from './index-error.ts';
import type { Manifest } from './manifest.ts';
import { manifestText, parseManifest } from './manifest-text.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The value with one part of it changed, for each part and each of the values given. */
function* changed(value: Json, by: readonly Json[]): Generator<Json> {
  yield* by;
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const copy = (other: Json | undefined): Json => {
      if (Array.isArray(value)) return value.with(Number(key), other ?? null);
      return { ...value, [key]: other ?? null };
    };
    for (const part of changed((value as Record<string, Json>)[key]!, by)) yield copy(part);
  }
}

const wrong: readonly Json[] = [null, -1, 0.5, 1e300, 2 ** 31, 'x', '', [], {}, true, [null]];

async function tryIndex(folder: string): Promise<boolean> {
  try {
    const index = await SearchIndex.open(folder, 1);
    // An index that opens can be read: it gives all facts of a frame.
    if (index.catalog.frames > 0) assert.ok(index.catalog.describe(0).uri.length >= 0);
    await index.close();
    return true;
  } catch (error) {
    assert.ok(error instanceof IndexError, (error as Error).stack);
    return false;
  }
}

test('an index whose manifest was forged, hash and all, is refused in words or opened', async (t) => {
  const folder = await makeIndex(t, [[...tiedFrames(40, 2, 1)]]);
  const path = join(folder, 'manifest.json');
  const manifest = parseManifest(readFileSync(path, 'utf8'), path);
  let opened = 0;
  let refused = 0;
  for (const forged of changed(structuredClone(manifest) as unknown as Json, wrong)) {
    writeFileSync(path, manifestText(forged as unknown as Manifest));
    if (await tryIndex(folder)) opened++;
    else refused++;
  }
  assert.ok(opened > 0 && refused > opened, `${opened} opened, ${refused} refused`);
});

test('an index whose columns were forged, checksum and all, is refused in words or opened', async (t) => {
  const folder = await makeIndex(t, [[...tiedFrames(40, 2, 1)]]);
  const path = join(folder, 'manifest.json');
  const manifest = parseManifest(readFileSync(path, 'utf8'), path);
  const [segment] = manifest.segments;
  const rowsPath = join(folder, `${segment!.name}.rows`);
  const good = readFileSync(rowsPath);
  let refused = 0;
  for (let at = 0; at + 4 <= good.length; at += 4) {
    const bytes = Buffer.from(good);
    bytes.writeUInt32LE(0xfffffff0, at);
    writeFileSync(rowsPath, bytes);
    const rows = { ...segment!.rows, crc32: crc32(bytes) };
    writeFileSync(path, manifestText({ ...manifest, segments: [{ ...segment!, rows }] }));
    if (!(await tryIndex(folder))) refused++;
  }
  assert.ok(refused > 0);
});
