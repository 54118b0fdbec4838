import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SourceLine } from './source-line.ts';

const pieceBytes = 2 ** 20;

/**
 * A copy of a list's lines on the disk, where each line can be read alone. The file is in the system's temporary folder
 * and has no name, so it is gone when the process ends at the latest. Holds 8 bytes of memory per line.
 */
export class CopiedLines {
  readonly #file: FileHandle;
  readonly #ends: Float64Array;

  /** `length` is the number of lines. Leaves nothing if it fails. */
  static async create(lines: AsyncIterable<SourceLine>, length: number): Promise<CopiedLines> {
    const path = join(tmpdir(), `halogrid-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    try {
      await rm(path);
      return new CopiedLines(file, await writeAll(file, lines, length));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  private constructor(file: FileHandle, ends: Float64Array) {
    this.#file = file;
    this.#ends = ends;
  }

  async line(index: number): Promise<SourceLine> {
    const from = index === 0 ? 0 : this.#ends[index - 1]!;
    const length = this.#ends[index]! - from;
    const { buffer } = await this.#file.read(Buffer.alloc(length), 0, length, from);
    return JSON.parse(buffer.toString());
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** Writes the lines. Returns the byte at which each line ends. */
async function writeAll(file: FileHandle, lines: AsyncIterable<SourceLine>, length: number): Promise<Float64Array> {
  const ends = new Float64Array(length);
  let [count, written] = [0, 0];
  let piece: Buffer[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    await file.writeFile(Buffer.concat(piece));
    written += bytes;
    piece = [];
    bytes = 0;
  };
  for await (const line of lines) {
    const text = Buffer.from(JSON.stringify(line));
    piece.push(text);
    bytes += text.length;
    ends[count++] = written + bytes;
    if (bytes >= pieceBytes) await flush();
  }
  await flush();
  return ends;
}
