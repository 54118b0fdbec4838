// Files and environment variables for the time of a test.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';

/** A folder that is removed when the test ends. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-imaging-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The URI of a file with that content, which is removed when the test ends. */
export async function temporaryFile(t: TestContext, name: string, content: string | Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(t), name);
  await writeFile(path, content);
  return pathToFileURL(path).href;
}

/** Sets environment variables for one test; undefined removes one. */
export function setEnvironment(t: TestContext, values: Record<string, string | undefined>): void {
  const before = { ...process.env };
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const [name, value] of Object.entries(values)) set(name, value);
  t.after(() => {
    for (const name of Object.keys(values)) set(name, before[name]);
  });
}
