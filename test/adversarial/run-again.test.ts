import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeVideo, noFfmpeg, videoKinds } from '@halogrid/imaging/testing-videos';
import { isThorough } from '@halogrid/testing';
import type { ServingCluster } from '../cluster.ts';
import { halogrid } from '../halogrid.ts';
import { drawPicture, writePgm } from '../picture-files.ts';
import { readJson } from '../results.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { sharedCluster } from '../shared-cluster.ts';

// Users repeat a command in the same folder. The files that a run leaves there must not become inputs of the next run.

const folder = scratchFolder();
const pictures = 4;
let cluster: ServingCluster;
before(async () => {
  cluster = await sharedCluster();
});
after(() => cluster?.stop());

interface Case {
  /** The arguments as a user types them in the folder. */
  args: string[];
  /** How many sources there are besides the pictures. */
  more?: number;
  /** The runs have separate processes, and a ledger in the folder; otherwise they use one cluster. */
  isAlone?: boolean;
  /** A video is among them. */
  hasVideo?: boolean;
  /** Called before the first run. */
  prepare?: (cwd: string) => void;
  /** Called between the first and the second run. */
  meanwhile?: (cwd: string) => void;
}

const frames = 24;

const cases: Record<string, Case> = {
  'a folder with a video': { args: ['.'], isAlone: true, more: frames, hasVideo: true },
  'a folder, with maps': { args: ['.', '--map', 'tiff', '--tile', '16'] },
  'a folder, with maps that are images': { args: ['.', '--map', 'dzi'] },
  'a glob of everything, with maps that are images': { args: ['**/*', '--map', 'png'] },
  'a manifest and its folder': {
    args: ['frames.txt', '.', '--map', 'png'],
    // Files that the manifest lists count a second time in the folder.
    more: 2,
    prepare: (cwd) => writeFileSync(join(cwd, 'frames.txt'), '# some of them\nsub/1.pgm\n0.pgm\n'),
  },
  'a folder, into a folder in it that is then copied': {
    args: ['.', '--map', 'png', '--out', 'results'],
    meanwhile: (cwd) => cpSync(join(cwd, 'results'), join(cwd, 'sub', 'copy'), { recursive: true }),
  },
  'a folder with a video, into a hidden one': { args: ['.', '--out', '.results'], more: frames, hasVideo: true },
};

describe('the same command again', { concurrency: 2 }, () => {
  for (const [name, { args, more = 0, hasVideo = false, isAlone, prepare, meanwhile }] of Object.entries(cases)) {
    test(name, { skip: hasVideo && noFfmpeg }, async () => {
      const cwd = join(folder, name.replaceAll(/\W+/g, '-'));
      mkdirSync(join(cwd, 'sub'), { recursive: true });
      for (let i = 0; i < pictures; i++) {
        await writePgm(join(cwd, i % 2 ? 'sub' : '.', `${i}.pgm`), drawPicture(40 + i, 30, i));
      }
      if (hasVideo) makeVideo(join(cwd, 'sub', 'video.mkv'), videoKinds['mjpeg.mkv']!, frames);
      prepare?.(cwd);
      const run = (): Promise<Outcome> => runIn(cwd, args, isAlone);
      const first = await run();
      meanwhile?.(cwd);
      // A third run is only for thorough tests: it finds the same files as the second.
      const others = isThorough ? [await run(), await run()] : [await run()];
      assert.deepEqual([first.counts.sources, first.counts.quarantined], [pictures + more, 0]);
      // Without --out, each run has a new folder, and no results to keep.
      const kept = args.includes('--out') ? first.counts.sources : undefined;
      for (const other of others) {
        assert.deepEqual([other.digest, other.sources, other.kept], [first.digest, first.sources, kept]);
        assert.deepEqual([other.counts.sources, other.counts.quarantined], [first.counts.sources, 0]);
      }
    });
  }
});

type Outcome = Awaited<ReturnType<typeof runIn>>;

async function runIn(cwd: string, args: readonly string[], isAlone = false) {
  const command = ['run', ...args, '--json'];
  const { code, stdout, stderr } = await (isAlone
    ? halogrid([...command, '--device', 'cpu'], { cwd })
    : cluster.halogrid(command, { cwd }));
  assert.equal(code, 0, stderr);
  const { counts, digest, incremental, out } = JSON.parse(stdout);
  return { counts, digest, sources: readJson(out, 'job.json').sources, kept: incremental?.kept };
}
