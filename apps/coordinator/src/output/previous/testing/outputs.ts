// For tests: jobs that run in the same folder one after another, and the files that they leave.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { JobSpec } from '@halogrid/proto';

export const pipelineOf = (kernel: string, parameters: Record<string, string>) => ({
  operations: [{ kernel, parameters, border: '' }],
});

export async function write(path: string, content: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

export function image(width: number, height: number, seed: number): Buffer {
  const pixels = Buffer.from(Array.from({ length: width * height }, (_, i) => (i * i * (seed + 3)) % 251));
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]);
}

export function specOf(source: string, out: string, more: Partial<JobSpec>): JobSpec {
  const uris = { sources: [pathToFileURL(source).href], out: pathToFileURL(out).href };
  return JobSpec.fromPartial({ ...uris, pipeline: pipelineOf('lbp', {}), mapFormat: 'none', ...more });
}

export async function jobJson(out: string) {
  return JSON.parse(await readFile(join(fileURLToPath(out), 'job.json'), 'utf8'));
}

export async function isComplete({ out }: JobSpec, jobId: string): Promise<boolean> {
  const { id, state } = await jobJson(out).catch(() => ({}));
  return id === jobId && state === 'complete';
}

/** SHA-256 of every file by name, except files named job.json, which have times. */
export async function filesOf(out: string): Promise<Record<string, string>> {
  const root = fileURLToPath(out);
  const files: Record<string, string> = {};
  for (const name of (await readdir(root, { recursive: true })).sort()) {
    const path = join(root, name);
    const isFile = (await stat(path)).isFile();
    if (basename(name) !== 'job.json')
      files[name] = isFile
        ? createHash('sha256')
            .update(await readFile(path))
            .digest('hex')
        : 'folder';
  }
  return files;
}
