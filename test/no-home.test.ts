import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { scratchFolder } from './scratch-folder.ts';

// What a user's home is good for is a matter of speed: where nothing can be kept there, everything is done without.

const folder = scratchFolder();
const picture = join(folder, 'picture.pgm');

before(() => writePgm(picture, drawPicture(200, 100)));

/** Folders in which none can be made: Linux says of the first that what exists does not. */
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
  test(`a coordinator says that it has no place for its ledger with ${home} as home`, { skip }, async () => {
    const args = ['coordinator', '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0'];
    const { code, stderr } = await halogrid(args, at(home));
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(`^halogrid: The ledger '${home}/.*' cannot be used: [^:\\n]+ \\(E[A-Z]+\\); give [^\\n]+\\n$`),
    );
  });
}
