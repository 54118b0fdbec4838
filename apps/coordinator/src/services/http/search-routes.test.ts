import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { credentials } from '@grpc/grpc-js';
import {
  type ChangesResponse,
  type JobSpec,
  JobState,
  SearchClient,
  SearchRequest,
  type SearchResponse,
} from '@halogrid/proto';
import { errorAnswer } from '@halogrid/proto/error-answer';
import { IndexWriter, readFinishedJob } from '@halogrid/search';
import { restrictSources, unrestricted } from '@halogrid/sources';
import {
  complete,
  setStage,
  specOf,
  submit,
  testConfig,
  watchToEnd,
  writeImages,
} from '../../testing/coordinator-stage.ts';
import { fetch } from '../testing/described-answers.ts';
import { ScriptedNode } from '../testing/scripted-node.ts';

/** A coordinator, a node, and folders for the indexes `pictures` and `cameras`; `get` asks below /api/v1. */
async function setSearch(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'halogrid-index-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const [pictures, cameras] = [join(root, 'pictures'), join(root, 'cameras')];
  for (const index of [pictures, cameras]) await mkdir(index);
  const stage = await setStage(t, testConfig({ index: [pictures, cameras] }));
  const { coordinator, jobs, folder } = stage;
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  t.after(() => node.hangUp());
  const images = await writeImages(folder, 2);
  /** Runs a job over two images; resolves with its id and its output. */
  const run = async (name: string, asked: Partial<JobSpec> = {}) => {
    const at = join(folder, name);
    const { jobId } = await submit(jobs, specOf(at, images, { mapFormat: 'none', ...asked }));
    for (let shards = 0; shards < 2; shards++) await complete(node, await node.next('lease'));
    const { state, error } = (await watchToEnd(jobs, jobId)).at(-1)!;
    assert.equal(state, JobState.COMPLETE, error);
    return { jobId, out: join(at, 'out') };
  };
  const http = `http://127.0.0.1:${coordinator.httpPort}`;
  const get = (path: string, init?: RequestInit) => fetch(`${http}/api/v1/${path}`, init);
  return { ...stage, http, get, images, pictures, cameras, run };
}

/** Adds the complete job in that folder to an index. */
async function addTo(index: string, out: string): Promise<void> {
  const writer = await IndexWriter.open(index);
  await writer.add(await readFinishedJob(out));
  writer.close();
}

test('a coordinator searches its indexes', async (t) => {
  const { coordinator, folder, http, get, images, pictures, cameras, run } = await setSearch(t);
  const { jobId, out } = await run('plain');

  await t.test("frames are found over HTTP and gRPC alike, and the answer's tickets show their pictures", async (t) => {
    const { indexes } = (await (await get('indexes')).json()) as { indexes: { name: string; error: string }[] };
    assert.deepEqual(
      indexes.map(({ name, error }) => [name, error]),
      ['pictures', 'cameras'].map((name) => [name, 'There is no index in its folder']),
    );
    await addTo(pictures, out);

    const byRow = (await (await get('search?index=pictures&row=1&top=5')).json()) as SearchResponse;
    assert.equal(byRow.results.length, 2);
    const [{ frame, score, exact, jobId: of }] = byRow.results as [SearchResponse['results'][number]];
    assert.deepEqual([frame!.uri, frame!.row, score, of], [images[1], 1, 1, jobId]);
    const [numerator, denominator] = exact.split('/');
    assert.equal(numerator, denominator);

    const client = new SearchClient(`127.0.0.1:${coordinator.grpcPort}`, credentials.createInsecure());
    t.after(() => client.close());
    const request = SearchRequest.fromPartial({ index: 'pictures', query: { $case: 'row', value: 1 }, top: 5 });
    const overGrpc = await new Promise((resolve, reject) => {
      client.search(request, (error, response) => (error ? reject(error) : resolve(response)));
    });
    assert.deepEqual(JSON.parse(JSON.stringify(overGrpc)), byRow);

    const image = await readFile(fileURLToPath(images[0]!));
    for (const region of ['', '&region=0,0,7x5']) {
      const found = (await (
        await get(`search?index=pictures${region}`, { method: 'POST', body: image })
      ).json()) as SearchResponse;
      assert.deepEqual([found.results[0]!.frame!.uri, found.results[0]!.score], [images[0], 1]);
    }

    for (const path of [frame!.picture, `${frame!.picture}/map?side=64`]) {
      const picture = await fetch(`${http}${path}`);
      assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png']);
      assert.equal(picture.headers.get('halogrid-size'), '7x5');
      assert.match(picture.headers.get('cache-control')!, /^private, max-age=\d+$/);
      assert.equal(Buffer.from(await picture.arrayBuffer()).readUInt32BE(0), 0x89504e47);
    }

    const changes = (await (await get(`changes?job_id=${jobId}`)).json()) as ChangesResponse;
    assert.deepEqual(
      changes.cameras.map(({ time, frames, events }) => ({ time, frames, events })),
      [{ time: 'frame', frames: 2, events: [] }],
    );
  });

  await t.test('a wrong search is refused with a sentence', async () => {
    const wrong: [path: string, status: number, sentence: RegExp][] = [
      ['search?index=others&row=0', 404, /^There is no index 'others' here; there is pictures, cameras$/],
      [`search?index=${folder}&row=0`, 403, /^Only a coordinator with --data-root looks for an index by its path$/],
      ['search?index=pictures', 400, /^Expected row, uri, or an image by POST, but received none$/],
      ['search?index=pictures&row=2', 404, /^There is no row 2: the index has rows 0 to 1$/],
      ['search?index=pictures&row=x', 400, /^Expected a whole number for row but received 'x'$/],
      ['search?index=pictures&row=0&row=1', 400, /^Expected one value for row but received 'several'$/],
      ['search?index=pictures&row=0&k=1', 400, /^Expected one of index, .*, group for a parameter but received 'k'$/],
      ['search?index=pictures&row=0&top=1001', 400, /^Expected at most 1000 for top but received '1001'$/],
      ['search?index=pictures&row=0&distance=l2', 400, /^Expected one of intersection, .* but received 'l2'$/],
      [
        'search?index=pictures&row=0&region=0,0,8x1',
        409,
        /^The region 0,0,8x1 is not inside of the image, which has 7x5 pixels$/,
      ],
      ['search?index=pictures&row=0&region=0,0,0x1', 400, /^Expected pixels for region but received '0x1'$/],
      ['search?index=pictures&row=0&camera=north', 409, /^No frame of the index knows its camera/],
      [
        'search?index=pictures&row=0&since_ms=2&until_ms=1',
        400,
        /^Expected at most until_ms, which is 1, for since_ms/,
      ],
      [`search?index=pictures&uri=file:///x&frame=0`, 404, /^Frame 0 of 'file:\/\/\/x' is not in the index$/],
      [`search?index=${'x'.repeat(9_000)}&row=0`, 400, /^Expected at most 8192 characters for index/],
      ['indexes/frames?index=pictures&count=201', 400, /^Expected at most 200 for count/],
      ['changes', 400, /^Expected job_id or out but received neither$/],
      [
        `changes?job_id=${jobId}&camera=north`,
        404,
        /^The job has no frame of camera 'north': its camera is 'file:\/\/.*'$/,
      ],
      [
        `changes?job_id=${jobId}&pipeline=a`,
        400,
        /^Expected no name, because the job has one pipeline without a name, for pipeline/,
      ],
      ['changes?job_id=20200101', 404, /^There is no job '20200101'/],
      ['frames/e30.e30', 404, /^This coordinator has not told of that frame/],
    ];
    for (const [path, status, sentence] of wrong) {
      const response = await get(path);
      const { error } = (await response.json()) as { error: string };
      assert.deepEqual([response.status, sentence.test(error)], [status, true], `${path}: ${response.status} ${error}`);
    }
    const posted = async (body: Uint8Array<ArrayBuffer>): Promise<[number, string]> => {
      const response = await get('search?index=pictures', { method: 'POST', body });
      return [response.status, ((await response.json()) as { error: string }).error];
    };
    assert.deepEqual(await posted(new Uint8Array(0)), [
      400,
      "Expected an image file for the image but received '0 bytes'",
    ]);
    const [status, sentence] = await posted(new TextEncoder().encode('GIF89a and no more'));
    assert.equal(status, 400);
    assert.match(sentence, /^The picture cannot be used: /);
    assert.equal((await get('changes', { method: 'POST' })).status, 405);
  });

  await t.test('a camera without frames is refused with the cameras of the index', async () => {
    await addTo(cameras, (await run('with-cameras', { captured: { from: 'image-{camera}', zone: '' } })).out);
    const found = (await (await get('search?index=cameras&row=0&camera=1')).json()) as SearchResponse;
    assert.equal(found.results.length, 1);
    const refused = await get('search?index=cameras&row=0&camera=2');
    const error = "The index has no frame of camera '2': its cameras are '0' and '1'";
    assert.deepEqual([refused.status, await refused.json()], [404, errorAnswer('NOT_FOUND', error)]);
  });

  await t.test(
    'a named index is searched wherever it is, and sources outside the data roots are not shown',
    async (t) => {
      t.after(() => restrictSources(unrestricted));
      const root = await mkdtemp(join(tmpdir(), 'halogrid-root-'));
      t.after(() => rm(root, { recursive: true }));
      const { coordinator: restricted } = await setStage(
        t,
        testConfig({ index: [pictures], data: { dataRoot: [root] } }),
      );
      const its = `http://127.0.0.1:${restricted.httpPort}`;
      const { results } = (await (await fetch(`${its}/api/v1/search?index=pictures&row=1`)).json()) as SearchResponse;
      assert.deepEqual([results.length, results[0]!.score], [2, 1]);
      const forbidden = errorAnswer('PERMISSION_DENIED', 'The path lies outside of the data roots (--data-root)');
      const { picture } = results[0]!.frame!;
      const paths = [
        picture,
        `${picture}/map`,
        '/api/v1/search?index=pictures&row=1&region=0,0,7x5',
        `/api/v1/changes?out=${out}`,
      ];
      for (const path of paths) {
        const response = await fetch(`${its}${path}`);
        assert.deepEqual([response.status, await response.json()], [403, forbidden], path);
      }
    },
  );
});
