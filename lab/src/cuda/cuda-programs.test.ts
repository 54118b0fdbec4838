import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { buildCudaPrograms, fastestRow, parseCudaRows, runCudaProgram } from './cuda-programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-cuda-test-'));
after(() => rmSync(folder, { recursive: true }));

function program(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

const line = (name: string, mean: number, block: string) =>
  JSON.stringify({ name, block, width: 512, ms: { mean, median: mean, stdev: 0, min: mean }, repetitions: 3 });

test('the fastest of the rows that fit a query is taken', () => {
  const rows = parseCudaRows(
    `${line('a', 3, '32x8')}\n${line('a', 2, '16x16')}\n${line('b', 1, '32x8')}\n${line('c', 0.5, '32x8')}\n`,
  );
  assert.equal(fastestRow(rows, { name: 'a' })?.block, '16x16');
  assert.equal(fastestRow(rows, { name: 'a', block: '32x8', width: 512 })?.ms.mean, 3);
  assert.equal(fastestRow(rows, { name: ['a', 'b'] })?.name, 'b');
  assert.equal(fastestRow(rows, { name: 'a', width: 256 }), undefined);
  const limited = { ...rows[0]!, maxRegisters: 32, ms: { ...rows[0]!.ms, mean: 1 } };
  assert.equal(fastestRow([...rows, limited], { name: 'a' })?.ms.mean, 2);
  assert.equal(fastestRow([...rows, limited], { name: 'a', maxRegisters: 32 })?.ms.mean, 1);
  assert.throws(() => parseCudaRows('hello\n'), /Expected a row of a CUDA program but received 'hello'/);
});

test('a program gets its arguments and its rows are read', async () => {
  program('works', `[ "$*" = "--sizes 512 --repetitions 3" ] && echo '${line('a', 3, '32x8')}'`);
  const rows = await runCudaProgram(folder, { program: 'works', arguments: { sizes: 512, repetitions: 3 } });
  assert.equal(rows[0]?.ms.mean, 3);
});

test('a program that fails is one sentence', async () => {
  program('fails', 'echo "cudaMalloc: no CUDA-capable device is detected." >&2; exit 1');
  await assert.rejects(runCudaProgram(folder, { program: 'fails', arguments: {} }), {
    message: "the CUDA program 'fails' failed: cudaMalloc: no CUDA-capable device is detected",
  });
});

test('a missing compiler and a failing one are one sentence each', async () => {
  const none = join(folder, 'nowhere/nvcc');
  await assert.rejects(buildCudaPrograms(none), { message: `there is no CUDA compiler ('${none}')` });
  const broken = program('nvcc', '[ "$1" = --version ] || { echo "nvcc fatal: no GPU" >&2; exit 1; }');
  await assert.rejects(buildCudaPrograms(broken), {
    message: 'the programs of lab/cuda cannot be built: nvcc fatal: no GPU',
  });
});
