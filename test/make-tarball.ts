import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { softwareVersion } from '@halogrid/service/version';
import { programLimitMs, within } from '@halogrid/testing';
import { x as extract } from 'tar';

const script = fileURLToPath(new URL('../scripts/package.mjs', import.meta.url));

/** Makes the artefact of a platform in a folder; `any` is the npm package. */
export async function makeArtefact(platform: string, folder: string): Promise<void> {
  const made = promisify(execFile)(process.execPath, [script, folder, '--platform', platform]);
  await within(`the artefact for ${platform}`, made, programLimitMs);
}

/** Makes the tarball of a platform in a folder, and unpacks it there; resolves with the unpacked folder. */
export async function makeTarball(platform: string, folder: string): Promise<string> {
  await makeArtefact(platform, folder);
  const name = `halogrid-${softwareVersion}-${platform}`;
  await extract({ file: join(folder, `${name}.tar.gz`), cwd: folder });
  return join(folder, name);
}
