import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeVideo, noFfmpeg, videoKinds } from '@halogrid/imaging/testing-videos';
import { sendFile, startTestS3, type TestS3 } from '@halogrid/sources/testing-servers';
import { eventually, timeoutMs } from '@halogrid/testing';
import { Cluster, startNode } from '../cluster.ts';
import { drawPicture, writePgm } from '../picture-files.ts';
import { readMetrics } from '../read-metrics.ts';
import { readJson } from '../results.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { writeTiledTiff } from '../tiled-tiff.ts';
import { type Absence, FlakyHost, handTo } from './flaky-host.ts';
import { withFaults } from './node-hooks.ts';

// A host or bucket fails while a job is planned or computed: no input is lost, and the digest is the same as for the
// files on disk.

const folder = scratchFolder();
const namesFile = join(folder, 'names');
const known = new Set<string>();
const frames = join(folder, 'frames');
const image = join(folder, 'image.tif');
const video = join(folder, 'yard.mp4');
const batchFrames = 3;
const names = Array.from({ length: 24 }, (_, i) => `${i}.pgm`);

interface Sources {
  /** The files on the host, by path. */
  files: () => Record<string, Buffer>;
  local: string;
  /** The source that the job names there. */
  named: string;
  tilePx?: number;
}

const framesOf = (below: string): Record<string, Buffer> =>
  Object.fromEntries(names.map((name) => [`${below}${name}`, readFileSync(join(frames, name))]));

const kinds: Record<'frames' | 'tiles' | 'recording', Sources> = {
  frames: {
    files: () => ({ ...framesOf('/day/'), '/list.txt': Buffer.from(names.map((name) => `day/${name}`).join('\n')) }),
    local: frames,
    named: 'list.txt',
  },
  tiles: { files: () => ({ '/image.tif': readFileSync(image) }), local: image, named: 'image.tif', tilePx: 64 },
  recording: { files: () => ({ '/yard.mp4': readFileSync(video) }), local: video, named: 'yard.mp4' },
};

const digests = new Map<string, string>();
let cluster: Cluster;
/** Its jobs do not wait long for hosts. */
let impatient: Cluster;
let s3: TestS3;
let bucket: FlakyHost;
let jobs = 0;

before(async () => {
  mkdirSync(frames);
  for (const [i, name] of names.entries()) await writePgm(join(frames, name), drawPicture(32, 24, i + 1));
  await writeTiledTiff(image, { width: 256, height: 256 }, 64, (x, y) => drawPicture(64, 64, x + 10 * y + 1));
  if (!noFfmpeg) makeVideo(video, videoKinds['h264.mp4']!);
  s3 = await startTestS3({
    accessKeyId: 'AKID',
    secretAccessKey: 'SECRET',
    region: 'eu-1',
    bucket: 'day',
    pageKeys: 20,
  });
  for (const [path, bytes] of Object.entries(framesOf('in/'))) s3.objects.set(path, bytes);
  bucket = await FlakyHost.start(handTo(s3.origin));
  const endpoint = { ...s3.environment, AWS_ENDPOINT_URL: `http://127.0.0.1:${bucket.port}` };
  const env = Object.fromEntries(Object.entries(endpoint).filter((entry): entry is [string, string] => !!entry[1]));
  const hooks = { ...env, ...withFaults({ names: namesFile }) };
  setName('never.test')(true);
  cluster = await Cluster.start({ nodes: 0, env: hooks });
  impatient = await Cluster.start({ nodes: 0, options: ['--source-grace', `${timeoutMs(1_000) / 1000}s`] });
  // It works for both coordinators.
  const node = await startNode(`${cluster.address},${impatient.address}`, 'n1', 'cpu', [], { env: hooks });
  await cluster.adopt(node);
  for (const [kind, { local, ...more }] of Object.entries(kinds)) {
    if (kind === 'recording' && noFfmpeg) continue;
    const { digest } = await cluster.jobs.run({ sources: [local], out: nextOut(), batchFrames, ...tilesOf(more) });
    digests.set(kind, digest);
  }
});

after(async () => {
  await cluster?.stop();
  await impatient?.stop();
  await Promise.all([bucket?.close(), s3?.close()]);
});

const nextOut = (): string => join(folder, `out-${++jobs}`);
const tilesOf = ({ tilePx }: { tilePx?: number }) => (tilePx ? { tilePx } : {});

/** Makes a name resolve to this machine, or not. */
const setName = (name: string) => (isKnown: boolean) => {
  known[isKnown ? 'add' : 'delete'](name);
  writeFileSync(namesFile, [...known].join('\n'));
};

const serving = (files: Record<string, Buffer>): RequestListener => {
  return (request, response) => {
    const bytes = files[new URL(request.url!, 'http://host').pathname];
    if (bytes) sendFile({ bytes, etag: `"${bytes.length}"` }, request, response);
    else response.writeHead(404).end();
  };
};

/** Makes the host fail at the n-th request that `isIt` picks. */
function nth(n: number, how: Absence, isIt: (request: IncomingMessage) => boolean = () => true) {
  let asked = 0;
  return (request: IncomingMessage): Absence | undefined => (isIt(request) && ++asked === n ? how : undefined);
}

/** The plan requests one byte of each file of a manifest; computing requests more. */
const isLook = ({ headers }: IncomingMessage): boolean => headers.range === 'bytes=0-0';
const isRead = (request: IncomingMessage): boolean => !isLook(request);

/** The absences of a host in one job over its files of a kind, each when the host is back from the last. */
const courses: Record<keyof typeof kinds, { when: string; how: Absence; leaves: ReturnType<typeof nth> }[]> = {
  frames: [
    { when: 'a manifest is read', how: 503, leaves: nth(2, 503) },
    { when: 'sizes of files are asked for', how: 'refuses', leaves: nth(10, 'refuses', isLook) },
    { when: 'frames are read', how: 'refuses', leaves: nth(5, 'refuses', isRead) },
    { when: 'frames are read', how: 'resets', leaves: nth(5, 'resets', isRead) },
    { when: 'frames are read', how: 403, leaves: nth(5, 403, isRead) },
    { when: 'frames are read', how: 'has no name', leaves: nth(5, 'has no name', isRead) },
  ],
  tiles: [
    { when: 'an image is opened', how: 'refuses', leaves: nth(2, 'refuses', isRead) },
    { when: 'tiles are read', how: 503, leaves: nth(8, 503, isRead) },
  ],
  recording: [
    { when: 'a recording is listed', how: 'refuses', leaves: nth(2, 'refuses', isRead) },
    { when: 'a recording is decoded', how: 503, leaves: nth(4, 503, isRead) },
  ],
};

describe('a host that fails and comes back', { concurrency: true }, () => {
  for (const [kind, course] of Object.entries(courses) as [keyof typeof kinds, (typeof courses)['frames']][]) {
    const said = course.map(({ when, how }) => `${typeof how === 'number' ? `answers ${how}` : how} while ${when}`);
    test(`${kind}: it ${said.join(', ')}`, { skip: kind === 'recording' && noFfmpeg }, async () => {
      const name = `${kind}.test`;
      const host = await FlakyHost.start(serving(kinds[kind].files()), setName(name));
      const leaves = course.map(({ leaves }) => leaves);
      try {
        const source = `http://${name}:${host.port}/${kinds[kind].named}`;
        await outlasts(host, source, kind, `host '${name}:${host.port}'`, leaves);
      } finally {
        await host.close();
      }
    });
  }
});

test('a bucket that is unreachable while it is listed, and while its objects are read', async () => {
  const isList = ({ url }: IncomingMessage): boolean => url!.includes('list-type');
  const leaves = [nth(2, 'refuses', isList), nth(10, 503, (request) => !isList(request))];
  await outlasts(bucket, 's3://day/in', 'frames', "bucket 'day'", leaves);
});

/** Asserts that a job waits at each absence, says so, and has the digest of the files on disk once the host is back. */
async function outlasts(
  host: FlakyHost,
  source: string,
  kind: keyof typeof kinds,
  place: string,
  course: readonly ReturnType<typeof nth>[],
): Promise<void> {
  host.leaveWhen(course[0]!);
  const jobId = await cluster.jobs.submit({ sources: [source], out: nextOut(), batchFrames, ...tilesOf(kinds[kind]) });
  for (const i of course.keys()) {
    const waiting = await eventually(`the job to wait for ${place} at absence ${i + 1}`, async () => {
      const job = await cluster.job(jobId);
      if (job.state !== 'JOB_STATE_RUNNING' && job.state !== 'JOB_STATE_PENDING') {
        throw new Error(`It is over: ${job.state} ${job.error}`);
      }
      return host.isAway && job.waiting ? job : undefined;
    });
    assert.ok(waiting.waiting.startsWith(`It waits for ${place}: `), waiting.waiting);
    assert.equal(waiting.counts!.quarantined, 0);
    await eventually('it to count as blocked', async () => {
      return (await readMetrics(cluster.http)).get('halogrid_jobs_blocked')! >= 1;
    });
    await host.back(course[i + 1]);
  }
  const { state, error, digest, counts } = await cluster.jobs.untilEnded(jobId);
  assert.deepEqual([state, error, digest, counts!.quarantined], ['JOB_STATE_COMPLETE', '', digests.get(kind), 0]);
}

test('a host that stays unreachable fails the job with the host and the reason, nothing is quarantined, and the same command continues', async () => {
  const host = await FlakyHost.start(serving(kinds.frames.files()));
  const source = `http://127.0.0.1:${host.port}/list.txt`;
  const request = { sources: [source], out: nextOut(), batchFrames };
  try {
    for (const leaves of [nth(20, 'refuses', isLook), nth(20, 'refuses', isRead)]) {
      host.leaveWhen(leaves);
      const failed = await impatient.jobs.untilEnded(await impatient.jobs.submit(request));
      const sentence = `The host '127.0.0.1:${host.port}' was away for `;
      assert.deepEqual([failed.state, failed.counts!.quarantined], ['JOB_STATE_FAILED', 0]);
      assert.ok(failed.error.startsWith(sentence), failed.error);
      assert.match(failed.error, /refuses connections .*; mend its address, .* run the same command again/);
      assert.equal(readJson(request.out, 'job.json').state, 'failed');
      await host.back();
    }
    const { digest } = await impatient.jobs.run(request);
    assert.equal(digest, digests.get('frames'));
  } finally {
    await host.close();
  }
});
