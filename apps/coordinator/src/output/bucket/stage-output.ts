import { randomUUID } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type Move, newFilesPath, readMoves, uploadsPath } from '@halogrid/results/publish-output';
import type { BucketPrefix, Upload, WholeUpload } from '@halogrid/sources';
import { forEachLimited } from '@halogrid/threads';
import type { JobClaim } from '../job-claim.ts';
import { isOfOutput } from './is-of-output.ts';
import type { Publication } from './publication.ts';

/** Files that are sent at once. */
const filesAtOnce = 8;

/**
 * Sends the files of a complete new output to the bucket, as uploads that show nothing yet. What was sent before an
 * interruption is not sent again. `claim`: job.json while the earlier output is being replaced.
 */
export async function stageOutput(
  prefix: BucketPrefix,
  folder: string,
  epoch: number,
  claim: JobClaim,
): Promise<Publication> {
  const files = newFilesPath(folder, epoch);
  const begun = await BegunUploads.open(prefix, uploadsPath(folder, epoch));
  try {
    const names: string[] = [];
    for await (const name of filesBelow(files)) names.push(name);
    const kept = await keptObjects(prefix, readMoves(folder, epoch));
    const staged = new Map<string, WholeUpload>();
    await forEachLimited(names, filesAtOnce, async (name) => {
      staged.set(name, await begun.send(name, join(files, ...name.split('/'))));
    });
    const copied = kept.filter(({ from, to }) => from !== to);
    await forEachLimited(copied, filesAtOnce, async ({ from, to, sizeBytes }) => {
      staged.set(
        to,
        await prefix.uploads.copy(await prefix.uploads.begin(to, randomUUID()), { name: from, sizeBytes }),
      );
    });
    const stays = new Set([...staged.keys(), ...kept.map(({ to }) => to)]);
    const removed: string[] = [];
    for await (const { name } of prefix.list()) if (isOfOutput(name) && !stays.has(name)) removed.push(name);
    const manifest = staged.get('job.json')!;
    staged.delete('job.json');
    const isReplaced = (await prefix.head('job.json')) !== undefined;
    return {
      uploads: [...staged.values()],
      removed,
      replacing: isReplaced ? await stageText(prefix, 'job.json', `${JSON.stringify(claim, null, 2)}\n`) : undefined,
      manifest,
    };
  } finally {
    await begun.close();
  }
}

async function stageText(prefix: BucketPrefix, name: string, text: string): Promise<WholeUpload> {
  return prefix.uploads.sendBytes(await prefix.uploads.begin(name, randomUUID()), Buffer.from(text));
}

/** Uploads that were begun, in a file of a line each, so that the next leader goes on with them. */
class BegunUploads {
  readonly #prefix: BucketPrefix;
  readonly #file: Awaited<ReturnType<typeof open>>;
  readonly #begun: Map<string, Upload>;

  private constructor(prefix: BucketPrefix, file: Awaited<ReturnType<typeof open>>, begun: Map<string, Upload>) {
    this.#prefix = prefix;
    this.#file = file;
    this.#begun = begun;
  }

  static async open(prefix: BucketPrefix, path: string): Promise<BegunUploads> {
    const text = await readFile(path, 'utf8').catch(() => '');
    // The last line may be torn.
    const lines = text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter(Boolean);
    const begun = lines.map((line) => JSON.parse(line) as Upload);
    const file = await open(path, 'w');
    await file.writeFile(begun.map((upload) => `${JSON.stringify(upload)}\n`).join(''));
    return new BegunUploads(prefix, file, new Map(begun.map((upload) => [upload.name, upload])));
  }

  async send(name: string, path: string): Promise<WholeUpload> {
    const before = this.#begun.get(name);
    const { uploads } = this.#prefix;
    const sent = before && (await uploads.sendFile(before, path, true));
    if (sent) return sent;
    const upload = await uploads.begin(name, randomUUID());
    await this.#file.appendFile(`${JSON.stringify(upload)}\n`);
    const whole = await uploads.sendFile(upload, path, false);
    if (!whole)
      throw new Error(`The store has forgotten the upload of '${this.#prefix.uriOf(name)}', which began just now`);
    return whole;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** The files below a folder, by their paths in it. */
async function* filesBelow(folder: string, inside = folder): AsyncGenerator<string> {
  for (const entry of await readdir(inside, { withFileTypes: true })) {
    const path = join(inside, entry.name);
    if (entry.isDirectory()) yield* filesBelow(folder, path);
    else yield relative(folder, path).split(sep).join('/');
  }
}

/** The objects of the earlier output that stay, each with its name in the new one. */
async function keptObjects(
  prefix: BucketPrefix,
  moves: AsyncIterable<Move>,
): Promise<{ from: string; to: string; sizeBytes: number }[]> {
  const kept: { from: string; to: string; sizeBytes: number }[] = [];
  const asked: { keep: string; as: string }[] = [];
  for await (const move of moves) if ('keep' in move) asked.push(move);
  if (asked.length === 0) return kept;
  const names = new Map(asked.map(({ keep, as }) => [keep, as]));
  for await (const { name, sizeBytes } of prefix.list()) {
    // A map may be a folder of objects, in `maps` or in `pipelines/NAME/maps`.
    const parts = name.split('/');
    for (let length = 1; length <= parts.length; length++) {
      const as = names.get(parts.slice(0, length).join('/'));
      if (as !== undefined) kept.push({ from: name, to: [as, ...parts.slice(length)].join('/'), sizeBytes });
    }
  }
  return kept;
}
