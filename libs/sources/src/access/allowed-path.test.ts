import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { openInputFile } from '../files/input-file.ts';
import { checkHasSource, listSources } from '../listing/sources.ts';
import { allowedPath } from './allowed-path.ts';
import { restrictSources, SourceForbiddenError, unrestricted } from './source-access.ts';

const pgm = Buffer.from('P5\n2 2\n255\nabcd');
let folder: string;
let root: string;

// A suite, because other test files of this process read from everywhere.
suite('with a root', () => {
  /** root holds an image and links; beside it lie `rooted`, which begins like it, and a secret. */
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'halogrid-access-')));
    root = join(folder, 'root');
    await mkdir(join(root, 'a', 'b'), { recursive: true });
    await mkdir(join(folder, 'rooted'));
    for (const name of ['root/in.pgm', 'root/a/in.pgm', 'rooted/out.pgm', 'secret.pgm', 'root/list.txt']) {
      await writeFile(join(folder, name), pgm);
    }
    const links: [string, string][] = [
      ['..', 'root/up'],
      ['../secret.pgm', 'root/link.pgm'],
      [join(folder, 'rooted'), 'root/far'],
      ['../../in.pgm', 'root/a/b/in-link.pgm'],
      ['nowhere', 'root/dangling'],
      [join(folder, 'new'), 'root/dangling-out'],
      ['loop-b', 'root/loop-a'],
      ['loop-a', 'root/loop-b'],
      ['.', 'root/a/self'],
    ];
    for (const [target, name] of links) await symlink(target, join(folder, name));
  });

  after(() => rm(folder, { recursive: true }));

  beforeEach(() => restrictSources({ roots: [root], hosts: [] }));
  afterEach(() => restrictSources(unrestricted));

  const uriOf = (name: string): string => pathToFileURL(join(folder, name)).href;
  const forbidden = { name: 'SourceForbiddenError', message: 'The path lies outside of the data roots (--data-root)' };

  test('paths in a root are followed to their real places, also if nothing is there yet', async () => {
    assert.equal(await allowedPath(root), root);
    assert.equal(await allowedPath(join(root, 'a/../in.pgm')), join(root, 'in.pgm'));
    assert.equal(await allowedPath(join(root, 'a/b/in-link.pgm')), join(root, 'in.pgm'));
    assert.equal(await allowedPath(join(root, 'a/self/new/folder')), join(root, 'a/new/folder'));
  });

  for (const name of [
    'secret.pgm',
    'rooted/out.pgm',
    'root/../secret.pgm',
    'root/link.pgm',
    'root/up/secret.pgm',
    'root/up/missing',
    'root/far/out.pgm',
    'root/dangling',
    'root/dangling/new',
    'root/dangling-out',
    'root/loop-a',
    'root/loop-a/x',
    'root/in.pgm\0.png',
  ]) {
    test(`${JSON.stringify(name)} lies in no root`, () => assert.rejects(allowedPath(join(folder, name)), forbidden));
  }

  test('a path that no file can have is refused before anything is looked at', async () => {
    const cases: [path: string, message: string][] = [
      [
        join(root, 'a/'.repeat(255)),
        `The path has ${255 + root.split('/').length - 1} levels: at most 255 are allowed`,
      ],
      [`${root}/${'b'.repeat(256)}`, 'The path has a name of 256 bytes: at most 255 are allowed'],
      [
        `${root}/${`${'ä'.repeat(100)}/`.repeat(21)}x`,
        `The path has ${root.length + 1 + 201 * 21 + 1} bytes: at most 4096 are allowed`,
      ],
      [`/${'a/'.repeat(4000)}`, 'The path has 8001 bytes: at most 4096 are allowed'],
    ];
    for (const [path, message] of cases) {
      await assert.rejects(allowedPath(path), { name: 'SourceForbiddenError', message });
    }
  });

  test('as many levels as are allowed are looked at once each, though none of them is there', async () => {
    const deep = `${root}/${'n/'.repeat(200)}x`;
    assert.equal(await allowedPath(deep), deep);
    assert.equal(await allowedPath(`${root}/a/self/${'n/'.repeat(200)}x`), `${root}/a/${'n/'.repeat(200)}x`);
  });

  test('more links on the way than the system follows lead nowhere', async (t) => {
    const chain = join(root, 'chain');
    await mkdir(chain);
    t.after(() => rm(chain, { recursive: true }));
    await symlink('..', join(chain, '0'));
    for (let i = 1; i < 60; i++) await symlink(String(i - 1), join(chain, String(i)));
    assert.equal(await allowedPath(join(chain, '30', 'new')), join(root, 'new'));
    await assert.rejects(allowedPath(join(chain, '59', 'new')), forbidden);
  });

  test('whatever the path, it is refused or leads into a root without a link or a dot', async () => {
    const parts = [
      '..',
      '.',
      '',
      'root',
      'rooted',
      'a',
      'b',
      'up',
      'far',
      'self',
      'in.pgm',
      'link.pgm',
      'loop-a',
      'new',
    ];
    const part = fc.oneof(
      fc.constantFrom(...parts, 'dangling', '..\0', '%2e%2e', '\\..', '~'),
      fc.string({ maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), fc.boolean(), async (path, isInRoot) => {
        const asked = `${isInRoot ? root : folder}/${path.join('/')}`;
        let real: string;
        try {
          real = await allowedPath(asked);
        } catch (error) {
          assert.ok(error instanceof SourceForbiddenError, String(error));
          return;
        }
        assert.ok(real === root || real.startsWith(`${root}/`), `${asked} led to ${real}`);
        assert.ok(!real.split('/').includes('..'));
        const there = await realpath(real).catch(() => real);
        assert.equal(there, real, asked);
      }),
      { numRuns: 500 },
    );
  });

  test('nothing outside is opened, listed or said to be there', async () => {
    for (const name of ['secret.pgm', 'missing.pgm', 'root/link.pgm', 'rooted', 'root*/out.pgm', 'root/up']) {
      const uri = uriOf(name);
      await assert.rejects(openInputFile(uri), forbidden, name);
      await assert.rejects(checkHasSource(uri), forbidden, name);
    }
    for (const name of ['%2e%2e/secret.pgm', '%2E./secret.pgm', 'a/..%5c../secret.pgm', '..%00/secret.pgm']) {
      await assert.rejects(openInputFile(`${uriOf('root')}/${name}`), { name: /^(SourceForbidden|Input)Error$/ }, name);
    }
    await (await openInputFile(uriOf('root/in.pgm'))).close();
  });

  test('links of a folder that lead out, or in a circle, are listed with a sentence and never followed', async () => {
    const listed = await Array.fromAsync(listSources(uriOf('root')));
    const errors = Object.fromEntries(listed.map(({ name, error }) => [name, error]));
    assert.equal(errors.up, forbidden.message);
    assert.equal(errors.far, forbidden.message);
    assert.equal(errors['link.pgm'], forbidden.message);
    assert.equal(errors['a/b/in-link.pgm'], undefined);
    assert.match(errors['a/self']!, /leads in a circle/);
    assert.equal(errors['in.pgm'], undefined);
    assert.ok(!listed.some(({ name }) => name.startsWith('up/') || name.startsWith('far/')));
  });

  test('lines of a manifest that lead out have a sentence', async () => {
    await writeFile(
      join(root, 'list.txt'),
      'in.pgm\n../secret.pgm\n/etc/hostname\nlink.pgm\nhttp://example.org/a.png\n',
    );
    const listed = await Array.fromAsync(listSources(uriOf('root/list.txt')));
    const host = "The host 'example.org' is not among those that may be asked (--allow-host)";
    assert.deepEqual(
      listed.map(({ error }) => error),
      [undefined, forbidden.message, forbidden.message, forbidden.message, host],
    );
  });
});
