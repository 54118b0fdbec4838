import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isThorough } from '@halogrid/testing';

const lab = fileURLToPath(new URL('../main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'halogrid-reports-'));
after(() => rmSync(folder, { recursive: true }));

const bench = (...args: string[]) =>
  spawnSync(process.execPath, [lab, 'reports', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') },
  });

/** Throws unless every element is closed in order. */
function checkWellFormed(svg: string): void {
  const open: string[] = [];
  for (const [, closing, name, selfClosing] of svg.matchAll(/<(\/?)([a-z]+)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (closing) assert.equal(open.pop(), name);
    else if (!selfClosing) open.push(name!);
  }
  assert.deepEqual(open, []);
  assert.doesNotMatch(svg.replaceAll(/<[^<>]*>/g, ''), /[<>]|&(?!(amp|lt|gt|quot);)/);
  assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
}

/**
 * The report that takes least; all reports with HALOGRID_THOROUGH=1. `reports.test.ts` checks what each computes and
 * draws, with made-up times.
 */
const chosen = isThorough ? ['r1', 'r2', 'r3', 'r4', 'r5'] : ['r5'];
const [tables, pictures] = isThorough ? [19, 23] : [3, 5];

test(`reports ${chosen.join(' ')}, quickly: tables, CSV of finite numbers, and charts`, () => {
  const options = ['--quick', '--device', 'software', '--repetitions', '1', '--cell-seconds', '600'];
  const { status, stdout, stderr } = bench(...chosen, ...options, '--out', 'out');
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^CUDA is left out: --device software is not for CUDA\.$/m);
  for (const report of chosen) assert.ok(stdout.includes(`\n${report.toUpperCase()} · `), report);
  assert.doesNotMatch(stdout, /cannot be measured|left out: (?!--device)/);

  const files = readdirSync(join(folder, 'out'));
  const read = (file: string) => readFileSync(join(folder, 'out', file), 'utf8');
  assert.equal(files.filter((file) => file.endsWith('.csv')).length, tables);
  for (const file of files.filter((name) => name.endsWith('.csv'))) {
    const [header, ...rows] = read(file)
      .trimEnd()
      .split('\r\n')
      .map((line) => line.replaceAll(/"[^"]*"/g, 'quoted').split(','));
    assert.ok(rows.length > 0, file);
    for (const row of rows) {
      assert.equal(row.length, header!.length, file);
      header!.forEach((name, i) => {
        if (/_(ms|samples)$|speedup/.test(name) && row[i] !== '') assert.ok(Number.isFinite(Number(row[i])), file);
      });
      const measured = header!.filter((name, i) => name.endsWith('_mean_ms') && Number(row[i]) > 0);
      assert.ok(measured.length > 0, `${file}: ${row}`);
    }
  }
  const charts = files.filter((file) => file.endsWith('.svg'));
  assert.ok(charts.includes('r5-peaks.svg'));
  assert.equal(charts.length, pictures);
  for (const chart of charts) checkWellFormed(read(chart));
  const images = readdirSync(join(folder, 'cache/halogrid/bench-images'));
  assert.ok(
    images.some((name) => /^random-\d+x\d+-1\.tif$/.test(name)),
    `${images}`,
  );
});
