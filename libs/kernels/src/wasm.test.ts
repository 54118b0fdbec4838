import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

test('the committed WebAssembly is what its source compiles to', (t) => {
  const src = fileURLToPath(new URL('.', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-wasm-'));
  t.after(() => rmSync(folder, { recursive: true }));
  execFileSync(fileURLToPath(new URL('../compile.sh', import.meta.url)), [folder]);
  const modules = globSync('*/*.wasm', { cwd: folder }).sort();
  assert.deepEqual(globSync('*/*.wasm', { cwd: src }).sort(), modules);
  for (const name of modules) assert.deepEqual(readFileSync(join(folder, name)), readFileSync(join(src, name)), name);
});
