import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { scratchFolder } from './scratch-folder.ts';

// A home folder only speeds things up: if nothing can be stored there, everything works without it.

const folder = scratchFolder();
const picture = join(folder, 'picture.pgm');

before(() => writePgm(picture, drawPicture(200, 100)));

/** Homes in which no folder can be made. For the first, Linux says that an existing folder does not exist. */
const homes = ['/proc/nowhere', '/dev/null/home'];
const skip = !existsSync('/proc/self');

const at = (HOME: string) => ({ env: { HOME, XDG_CACHE_HOME: '', XDG_DATA_HOME: '' } });

test('a job runs without a home', { skip }, async () => {
  const out = join(folder, 'out');
  const { code, stderr } = await halogrid(['run', picture, '--out', out, '--device', 'cpu'], at(homes[0]!));
  assert.equal(code, 0, stderr);
  assert.ok(existsSync(join(out, 'histogram.json')));
});

for (const home of homes) {
  test(`a coordinator says that it has no folder for its ledger with ${home} as home`, { skip }, async () => {
    const args = ['coordinator', '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0'];
    const { code, stderr } = await halogrid(args, at(home));
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(`^halogrid: The ledger '${home}/.*' cannot be used: [^:\\n]+ \\(E[A-Z]+\\); give [^\\n]+\\n$`),
    );
  });
}
