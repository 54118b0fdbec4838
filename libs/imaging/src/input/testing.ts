import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type OpenImage, type OpenImageOptions, openImage } from './open-image.ts';

const fixtures = new URL('../../fixtures/', import.meta.url);

/** The images of the fixtures folder that can be decoded, with what other programs decode them to. */
export const expectedFixtures: Record<string, { width: number; height: number; sha256: string }> = JSON.parse(
  readFileSync(new URL('expected.json', fixtures), 'utf8'),
);

export const fixtureUri = (name: string): string => new URL(name, fixtures).href;
export const fixtureBytes = (name: string): Buffer => readFileSync(new URL(name, fixtures));

/** A folder that goes when the test ends. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-imaging-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The URI of a file with that content, which goes when the test ends. */
export async function temporaryFile(t: TestContext, name: string, content: string | Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(t), name);
  await writeFile(path, content);
  return pathToFileURL(path).href;
}

/** The luma of a whole image, row by row without padding. */
export async function decodeWhole(uri: string, options?: OpenImageOptions): Promise<Uint8Array> {
  const image = await openImage(uri, options);
  try {
    return await decodeOpen(image);
  } finally {
    await image.close();
  }
}

export async function decodeOpen(image: OpenImage): Promise<Uint8Array> {
  const { width, height } = image;
  const target = new Uint8Array(width * height);
  await image.decode({ x: 0, y: 0, width, height }, target, 0, width);
  return target;
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
