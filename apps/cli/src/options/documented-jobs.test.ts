import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { addJobOptions, parseJob } from './job-options.ts';

// Every job in the documentation must be valid.

const checkout = fileURLToPath(new URL('../../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'halogrid-docs-'));
after(() => rmSync(folder, { recursive: true }));
// The matrix in docs/kernels/conv.md.
writeFileSync(join(folder, 'emboss.json'), '[[-2, -1, 0], [-1, 1, 1], [0, 1, 2]]');

const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: checkout })];
const jobs = pages.flatMap((page) => {
  const lines = readFileSync(join(checkout, page), 'utf8').split('\n');
  const commands = lines.map((line) => /^ *(?:npx )?halogrid (?:run|submit) ([^#]*)/.exec(line)?.[1]?.trim());
  return commands.filter((command) => command !== undefined).map((command) => ({ page, command }));
});

test('the documentation shows jobs of every kernel', () => {
  for (const kernel of ['lbp', 'ldp', 'conv', 'glcm'])
    assert.ok(jobs.some(({ command }) => command.includes(`--op ${kernel}`)));
});

for (const { page, command } of jobs) {
  test(`${page}: ${command}`, () => {
    const parser = addJobOptions(new Command().argument('<source...>').exitOverride().allowUnknownOption());
    parser.action((sources, options) => {
      parseJob(
        (sources as string[]).filter((word) => !word.startsWith('-')),
        options,
        folder,
      );
    });
    parser.parse(command.split(/\s+/), { from: 'user' });
  });
}
