import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import { cacheFolders, makeFolders } from '@halogrid/service';
import { loadKoffi } from '@halogrid/threads/load-koffi';
import type { LibraryHandle } from 'koffi';
import { x as extract } from 'tar';

const wanted = ['libvk_swiftshader.so', 'vk_swiftshader_icd.json', 'libvulkan.so.1'];

/** The Vulkan loader, which must stay in the process until WebGPU has found it. */
let loader: Promise<LibraryHandle> | undefined;

/**
 * Makes SwiftShader the Vulkan device of this process, without root and without an installation. WebGPU opened later
 * finds it. Rejects with one sentence if SwiftShader is not available.
 */
export async function provideSoftwareVulkan(): Promise<void> {
  loader ??= provide();
  await loader;
}

async function provide(): Promise<LibraryHandle> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `The software device exists for Linux on x64 only; this is ${process.platform} on ${process.arch}.`,
    );
  }
  const folder = await unpackSwiftShader(archivePath(), cacheFolders(process.env));
  process.env.VK_DRIVER_FILES = join(folder, 'vk_swiftshader_icd.json');
  // WebGPU asks for the library by this name, and finds it without a search path if the process has loaded it.
  return loadKoffi().load(join(folder, 'libvulkan.so.1'));
}

function archivePath(): string {
  try {
    const entry = import.meta.resolve('@sparticuz/chromium');
    return fileURLToPath(new URL('../../bin/swiftshader.tar.br', entry));
  } catch {
    throw new Error('The software device needs the npm package @sparticuz/chromium, which is not installed.');
  }
}

/**
 * Unpacks the archive once under the first folder of `roots` that can be written, and returns the folder with its
 * files. The folder's name is a hash of the archive. The folder appears complete or not at all, also if several
 * processes unpack at the same time.
 */
export async function unpackSwiftShader(archive: string, roots: readonly string[]): Promise<string> {
  const packed = await readFile(archive).catch(() => {
    throw new Error(`The software device needs ${archive}, which is missing.`);
  });
  const name = `swiftshader-${createHash('sha256').update(packed).digest('hex').slice(0, 16)}`;
  const refusals: string[] = [];
  for (const root of roots) {
    const folder = join(root, name);
    try {
      await makeFolders(root, 0o700);
      // A library is about to be loaded from here, so another user must not have prepared the folder.
      const { uid } = await stat(root);
      if (process.getuid && uid !== process.getuid()) throw new Error(`${root} belongs to another user`);
      if (!(await exists(folder))) await unpackInto(packed, folder);
      return folder;
    } catch (error) {
      refusals.push((error as Error).message);
    }
  }
  throw new Error(`The software device cannot be unpacked: ${refusals.join('; ')}.`);
}

async function unpackInto(packed: Buffer, folder: string): Promise<void> {
  const unfinished = `${folder}.${randomUUID()}`;
  try {
    await mkdir(unfinished);
    // In a container root may not know the owners that the archive names.
    const files = extract({
      cwd: unfinished,
      strict: true,
      preserveOwner: false,
      filter: (path) => wanted.includes(path),
    });
    await pipeline(Readable.from([packed]), createBrotliDecompress(), files);
    await rename(unfinished, folder);
  } catch (error) {
    // Renaming fails if another process has just put the folder there; that folder is as good.
    if (!(await exists(folder))) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
