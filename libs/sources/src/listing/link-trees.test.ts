import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { repeated } from '@halogrid/testing';
import { isBelow } from '../access/allowed-path.ts';
import { restrictSources, unrestricted } from '../access/source-access.ts';
import { openInputFile } from '../files/input-file.ts';
import { InputError } from '../input-error.ts';
import { SourceNotFoundError } from '../source-errors.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import type { Source } from './source.ts';
import { listSources } from './sources.ts';

const seed = Number(process.env.HALOGRID_MUTANTS_SEED ?? 1);
const count = repeated(40, 600);
const mostEntries = 14;

const sentences =
  /^(The path lies outside of the data roots|The symbolic link leads in a circle|The folder cannot be listed \(E[A-Z]+\)$)/;

/** A tree of folders, files and links by a seeded generator: up, down, across, out, to nothing, and to one another. */
function grow(folder: string, random: (below: number) => number): void {
  const root = join(folder, 'root');
  mkdirSync(root);
  mkdirSync(join(folder, 'outside/deeper'), { recursive: true });
  writeFileSync(join(folder, 'outside/secret.pgm'), 'P5');
  const places = [''];
  const pick = (): string => places[random(places.length)]!;
  for (let entries = 1 + random(mostEntries); entries > 0; entries--) {
    const name = join(pick(), `${'abc'[random(3)]}${random(4)}${['', '.pgm', '.txt'][random(3)]}`);
    const path = join(root, name);
    const kind = random(4);
    try {
      if (kind === 0) writeFileSync(path, 'P5');
      else if (kind === 1) mkdirSync(path);
      else symlinkSync(targetOf(random, folder, pick), path);
      if (kind !== 0) places.push(name);
    } catch {
      // The path exists already, or its parent is not a folder.
    }
  }
}

function targetOf(random: (below: number) => number, folder: string, pick: () => string): string {
  const targets = [
    () => '.',
    () => '..',
    () => '../'.repeat(random(6)) + pick(),
    () => join(folder, 'root', pick()),
    () => join(folder, 'outside', ['', 'secret.pgm', 'deeper', 'new.pgm'][random(4)]!),
    () => '../outside/secret.pgm',
    () => `${'abc'[random(3)]}${random(4)}`,
    () => `${'./'.repeat(random(100))}a1`,
    () => 'nowhere/at/all',
    () => 'x'.repeat(200 + random(100)),
  ];
  return targets[random(targets.length)]!();
}

async function list(uri: string): Promise<Source[]> {
  try {
    return await Array.fromAsync(listSources(uri));
  } catch (error) {
    assert.ok(error instanceof SourceNotFoundError, (error as Error).stack);
    return [];
  }
}

// A suite, because other test files of this process read from everywhere.
suite('trees of links', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'halogrid-links-')));
  after(() => rmSync(folder, { recursive: true }));
  afterEach(() => restrictSources(unrestricted));

  test('whatever links there are, a listing ends, and what it gives to read lies in the root, once', async () => {
    const random = seededRandom(seed);
    let read = 0;
    let refused = 0;
    for (let i = 0; i < count; i++) {
      const tree = join(folder, String(i));
      mkdirSync(tree);
      grow(tree, random);
      const root = join(tree, 'root');
      const said = `tree ${i} of series ${seed}`;
      restrictSources({ roots: [root], hosts: [] });
      for (const asked of [root, join(root, '**/*.pgm'), join(root, '*/*/*')]) {
        const sources = await list(pathToFileURL(asked).href);
        assert.equal(new Set(sources.map(({ name }) => name)).size, sources.length, said);
        for (const { uri, name, error } of sources) {
          const path = join(root, name);
          if (error !== undefined) {
            assert.match(error, sentences, said);
            refused++;
            continue;
          }
          const file = await openInputFile(uri).catch((failure: unknown) => failure);
          if (file instanceof Error) {
            assert.ok(file instanceof InputError, `${said}: ${file.stack}`);
            continue;
          }
          await (file as Awaited<ReturnType<typeof openInputFile>>).close();
          assert.ok(isBelow(realpathSync(path), root), `${said}: ${name} leads to ${realpathSync(path)}`);
          read++;
        }
      }
      rmSync(tree, { recursive: true });
    }
    assert.ok(read > count / 4 && refused > count / 4, `${read} read, ${refused} refused`);
  });
});
