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

/** Sets environment variables; undefined removes one. */
export function setVariables(values: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** Sets environment variables for one test; undefined removes one. */
export function setEnvironment(t: TestContext, values: Record<string, string | undefined>): void {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]));
  setVariables(values);
  t.after(() => setVariables(before));
}
