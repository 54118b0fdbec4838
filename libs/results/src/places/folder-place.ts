import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Place, PlacedFile, PlaceEntry, StoredFile } from './place.ts';

/** A place on this machine. Its path is absolute. */
export class FolderPlace implements Place {
  readonly at: string;

  constructor(path: string) {
    this.at = path;
  }

  get uri(): string {
    return pathToFileURL(this.at).href;
  }

  in(...names: string[]): FolderPlace {
    return new FolderPlace(join(this.at, ...names));
  }

  async file(): Promise<StoredFile | undefined> {
    const path = this.at;
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) return undefined;
    const { size, mtimeMs } = found;
    return {
      sizeBytes: size,
      version: `${size.toString(16)}-${Math.round(mtimeMs).toString(16)}`,
      read: (start, end) => readPart(path, start, Math.min(end, size)),
      stream: (start = 0, end = size) =>
        end > start ? createReadStream(path, { start, end: end - 1, highWaterMark: 2 ** 18 }) : none(),
    };
  }

  async entries(): Promise<PlaceEntry[] | undefined> {
    const entries = await readdir(this.at, { withFileTypes: true }).catch(() => undefined);
    return entries
      ?.filter((entry) => entry.isFile() || entry.isDirectory())
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  }

  async *files(isWanted: (entry: string) => boolean = () => true): AsyncGenerator<PlacedFile> {
    for (const { name, isFolder } of (await this.entries()) ?? []) {
      if (!isWanted(name)) continue;
      const top = join(this.at, name);
      const paths = isFolder ? await filesBelow(top) : [top];
      for (const path of paths.sort()) {
        yield { name: relative(this.at, path).split(sep).join('/'), sizeBytes: (await stat(path)).size };
      }
    }
  }
}

async function readPart(path: string, start: number, end: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = Buffer.alloc(Math.max(0, end - start));
  const file = await open(path);
  try {
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function* none(): AsyncGenerator<Buffer> {}
