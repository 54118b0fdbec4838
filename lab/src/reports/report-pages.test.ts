import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readCsv } from './read-csv.ts';
import { csv } from './render-table.ts';
import { fillPage, renderPages } from './report-pages.ts';
import { fillSpeeds } from './speed-table.ts';

const folders = {
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  pages: fileURLToPath(new URL('../../../docs/reports', import.meta.url)),
  data: fileURLToPath(new URL('../../reports', import.meta.url)),
};

test('a CSV that is written and read gives the same values', () => {
  const header = ['name', 'ms', 'note'];
  const rows = [
    ['a, "b"', 0.5, undefined],
    ['two\r\nlines', 1e-7, '32x8'],
  ];
  const table = readCsv(csv(header, rows));
  assert.deepEqual(
    table.rows.map(({ values }) => header.map((name) => values[name])),
    rows,
  );
  assert.deepEqual(table.rows[0]!.labels, { name: 'a, "b"', ms: 0.5 });
});

test('a page shows the tables that it asks for, and does not change when it is filled again', () => {
  const table = readCsv(
    csv(
      ['kernel', 'block', 'ms'],
      [
        ['a', '8x8', 2],
        ['a', '16x16', 1],
        ['b', '8x8', 3],
        ['b', '16x16', undefined],
      ],
    ),
  );
  const page = (request: string, rows: string) => `# R\n\n<!-- table ${request} -->\n${rows}<!-- /table -->\n\nEnd.\n`;
  const all = '{"file":"x/y","columns":{"block":"block","ms":"ms"},"only":{"kernel":"a"}}';
  const filled = fillPage(page(all, ''), () => table);
  assert.equal(filled, page(all, '| block | ms |\n| --- | --- |\n| 8x8 | 2 |\n| 16x16 | 1 |\n'));
  assert.equal(
    fillPage(filled, () => table),
    filled,
  );
  const best = '{"file":"x/y","columns":{"kernel":"kernel","ms":"ms"},"best":{"of":"kernel","is":"least"}}';
  assert.equal(
    fillPage(page(best, ''), () => table),
    page(best, '| kernel | ms |\n| --- | --- |\n| a | 1 |\n| b | 3 |\n'),
  );
  const rowOf =
    '{"file":"x/y","columns":{"kernel":"kernel","block":"block","ms":"ms"},"best":{"of":"kernel","by":"ms","is":"least"}}';
  assert.equal(
    fillPage(page(rowOf, ''), () => table),
    page(rowOf, '| kernel | block | ms |\n| --- | --- | --- |\n| a | 16x16 | 1 |\n| b | 8x8 | 3 |\n'),
  );
  const blockAt =
    '{"file":"x/y","columns":{"kernel":"kernel","ms":"ms","block at ms":"block"},"best":{"of":"kernel","is":"least"}}';
  assert.equal(
    fillPage(page(blockAt, ''), () => table),
    page(blockAt, '| kernel | ms | block |\n| --- | --- | --- |\n| a | 1 | 16x16 |\n| b | 3 | 8x8 |\n'),
  );
  assert.throws(
    () => fillPage(page('{"file":"x/y","columns":{"s":"s"}}', ''), () => table),
    /'x\/y' has no column 's'/,
  );
});

test('machines stand side by side, medians with their deviations', () => {
  const files: Record<string, string> = {
    a: csv(
      ['side', 'x_median_ms', 'x_stdev_ms', 'y'],
      [
        [8, 2, 0.25, 3],
        [16, 4, 0.2, undefined],
        [32, undefined, undefined, undefined],
      ],
    ),
    b: csv(['side', 'x_median_ms'], [[16, 5]]),
    c: csv(
      ['kernel', 'side', 'y'],
      [
        ['k', 8, 1],
        ['k', 16, 2],
      ],
    ),
  };
  const request = '{"files":{"A":"a","B":"b"},"by":{"side":"side"},"columns":{"x_median_ms":"ms","y":"y"}}';
  const filled = fillPage(`<!-- machines ${request} -->\n<!-- /machines -->\n`, (file) => readCsv(files[file]!));
  const [, , , ...rows] = filled.split('\n');
  assert.match(filled, /^\| side \| ms, A \| ms, B \| y, A \|$/m);
  const ofOnly = '{"files":{"A":"c"},"by":{"kernel":"kernel"},"columns":{"y":"y"},"only":{"side":16}}';
  assert.match(
    fillPage(`<!-- machines ${ofOnly} -->\n<!-- /machines -->\n`, (file) => readCsv(files[file]!)),
    /^\| k \| 2 \|$/m,
  );
  assert.deepEqual(rows, ['| 8 | 2 ± 13 % | - | 3 |', '| 16 | 4 ± 5.0 % | 5 | - |', '<!-- /machines -->', '']);
});

test('tables and charts of the pages show the CSV files', async () => {
  const rendered = await renderPages(folders);
  for (const [path, text] of rendered) {
    assert.equal(await readFile(path, 'utf8'), text, `${path} is stale: npm run report-pages`);
  }
  const charts = (await readdir(folders.data, { recursive: true })).filter((path) => path.endsWith('.svg'));
  for (const path of charts) {
    assert.ok(rendered.has(join(folders.data, path)) || path.startsWith('pictures/'), `${path} has no CSV`);
  }
});

test('a figure of the README that docs/benchmarks.md no longer has is named', async () => {
  const [readme, benchmarks] = await Promise.all(
    ['README.md', 'docs/benchmarks.md'].map((name) => readFile(join(folders.root, name), 'utf8')),
  );
  const without = benchmarks!.replaceAll('| conv gaussian-21 |', '| conv gaussian-19 |');
  assert.throws(() => fillSpeeds(readme!, without), /no figure 0 of 'conv gaussian-21', 'ms' below 'Kernels'/);
  assert.throws(() => fillSpeeds(readme!, benchmarks!.replace('## Search', '## Find')), /no table 'Search'/);
});

test('every picture and file that a page names is there', async () => {
  for (const name of await readdir(folders.pages)) {
    const page = await readFile(join(folders.pages, name), 'utf8');
    for (const [, path] of page.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      assert.ok(existsSync(join(folders.pages, path!)), `${name} names ${path}`);
    }
  }
});

/** Numbers of tables and figures of the reports. */
const counts = {
  R1: { table: 3, figure: 6 },
  R2: { table: 0, figure: 4 },
  R3: { table: 3, figure: 14 },
  R4: { table: 5, figure: 12 },
  R5: { table: 5, figure: 5 },
};

/** The names in a row of the index: 'tables 2, 3, figure 7' has three. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/(table|figure)s? ((?:\d+(?: to \d+)?(?:, )?)+)/g)].flatMap(([, kind, numbers]) =>
    [...numbers!.matchAll(/(\d+)(?: to (\d+))?/g)].flatMap(([, from, to = from]) =>
      Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => `${kind} ${Number(from) + i}`),
    ),
  );
}

test('the index has every table and figure of the reports once, with a verdict', async () => {
  const index = await readFile(join(folders.pages, 'README.md'), 'utf8');
  const rows = [...index.matchAll(/^\| (R\d) ([^|]+) \| [^|]+ \| ([^|]+) \|$/gm)];
  const listed = rows.filter(([, , what]) => /^(table|figure)/.test(what!));
  const named = listed.flatMap(([, report, what]) => namesIn(what!).map((name) => `${report} ${name}`));
  const expected = Object.entries(counts).flatMap(([report, kinds]) =>
    Object.entries(kinds).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, i) => `${report} ${kind} ${i + 1}`),
    ),
  );
  assert.deepEqual(named.toSorted(), expected.toSorted());
  for (const [row, , , verdict] of listed) {
    assert.match(verdict!, /^(reproduced|order reproduced|differs because|not measurable because)/, row);
  }
});
