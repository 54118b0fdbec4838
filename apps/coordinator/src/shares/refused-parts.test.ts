import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type JobSpec, JobState, type Share } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { setVariables } from '@halogrid/sources/testing-files';
import { startTestS3, type TestS3 } from '@halogrid/sources/testing-servers';
import { memoryFolder } from '@halogrid/testing';
import { image, specOf, write } from '../output/previous/testing/outputs.ts';
import { readPlan } from './read-plan.ts';
import { copyToBucket, merge, runPart, writePlan } from './testing/local-parts.ts';

// Parts that do not make one output are refused with a sentence, and nothing is written. What was copied to a bucket
// is refused as it is in folders, and so are mixes of both.

const folder = await mkdtemp(join(memoryFolder, 'halogrid-parts-'));
after(() => rm(folder, { recursive: true, force: true }));
const source = join(folder, 'source');
const at = (name: string): string => join(folder, name);
const uriOf = (name: string): string => pathToFileURL(at(name)).href;

async function part(name: string, number: number, of: number, more: Partial<JobSpec & Share> = {}): Promise<void> {
  const { plan = '', splitImages = false, ...spec } = more;
  await runPart(name, specOf(source, at(name), { ...spec, share: { number, of, plan, splitImages } }));
}

// A suite, because other test files of this process set other buckets.
describe('parts that do not fit', () => {
  let store: TestS3;
  let refuses: (url: string) => boolean = () => false;
  before(async () => {
    const names = { accessKeyId: 'AK', secretAccessKey: 'SK', region: 'us-east-1', bucket: 'parts' };
    store = await startTestS3({ ...names, fault: ({ url = '' }) => (refuses(url) ? 'refuse' : undefined) });
    setVariables({ ...store.environment, HALOGRID_SCRATCH: at('scratch') });
    for (let i = 0; i < 6; i++) await write(join(source, `${i}.pgm`), image(7, 5, i));
    await part('one', 1, 2);
    await part('two', 2, 2);
  });

  after(() => store?.close());

  async function refused(names: readonly string[]): Promise<string> {
    store.objects.clear();
    for (const name of new Set(names)) await copyToBucket(store, at(name), name);
    const inBucket = names.map((name) => `s3://parts/${name}`);
    const here = await refusedFrom(names.map(at), uriOf('merged'));
    assert.equal(await refusedFrom(inBucket, 's3://parts/merged'), here);
    assert.equal(await refusedFrom([at(names[0]!), ...inBucket.slice(1)], uriOf('merged')), here);
    assert.ok(!(await readdir(folder)).includes('merged'), 'nothing is written');
    assert.ok(![...store.objects.keys()].some((key) => key.startsWith('merged/')), 'nor to the bucket');
    return here;
  }

  const refusedFrom = (places: readonly string[], out: string): Promise<string> =>
    merge(places, out).then(
      () => assert.fail('merged'),
      (error: Error) => {
        assert.ok(error instanceof UsageError, error.stack);
        return error.message.replaceAll(`${folder}/`, '').replaceAll('s3://parts/', '');
      },
    );

  /** A copy of a part, with another job.json. */
  async function altered(name: string, as: string, change: Record<string, unknown>): Promise<void> {
    await cp(at(name), at(as), { recursive: true });
    const text = await readFile(join(at(as), 'job.json'), 'utf8');
    await writeFile(join(at(as), 'job.json'), JSON.stringify({ ...JSON.parse(text), ...change }));
  }

  test('parts that are missing, or there twice', async () => {
    assert.equal(await refused(['one']), 'Expected all 2 parts but part 2 is missing');
    assert.equal(await refused(['one', 'two', 'one']), "Expected each part once but part 1 of 2 is 'one' and 'one'");
    await part('one-of-nine', 1, 9);
    await part('five-of-nine', 5, 9);
    assert.equal(await refused(['five-of-nine', 'one-of-nine']), 'Expected all 9 parts but 7 are missing: 2-4, 6-9');
  });

  test('parts of another cut or job', async () => {
    await part('of-three', 2, 3);
    assert.equal(
      await refused(['one', 'of-three']),
      "Expected parts of one cut but received 'one' (part 1 of 2) and 'of-three' (part 2 of 3)",
    );
    await part('split', 2, 2, { splitImages: true });
    assert.equal(
      await refused(['one', 'split']),
      "Expected parts of one cut but one of 'one' and 'split' was made with --split-images",
    );
    await part('gridded', 2, 2, { grid: { rows: 2, columns: 2 } });
    assert.match(
      await refused(['one', 'gridded']),
      /^Expected parts of one job but 'one' and 'gridded' differ: in the latter grid is 2x2, in the former 1x1$/,
    );
  });

  test('parts of another version', async () => {
    await altered('two', 'older', { version: '0.0.9' });
    assert.match(
      await refused(['one', 'older']),
      /^'older' was made by halogrid 0\.0\.9 with results version \d+, this is /,
    );
    await altered('two', 'other-results', { resultsVersion: 4 });
    assert.match(
      await refused(['one', 'other-results']),
      /^'other-results' was made by halogrid .* with results version 4/,
    );
  });

  test('folders that hold no complete part', async () => {
    await writeFile(at('a-file'), '');
    assert.match(await refused(['one', 'nowhere']), /^Expected a part of an output but 'nowhere' has no job\.json/);
    assert.match(await refused(['one', 'source']), /^Expected a part of an output but 'source' has no job\.json/);
    await altered('two', 'running', { state: 'running' });
    assert.equal(await refused(['one', 'running']), "Expected a part of an output but the job in 'running' is running");
    await altered('two', 'failed', { state: 'failed', error: 'no node' });
    assert.equal(
      await refused(['one', 'failed']),
      "Expected a part of an output but the job in 'failed' has failed (no node)",
    );
    await cp(at('two'), at('without-log'), { recursive: true });
    await rm(join(at('without-log'), '.halogrid', 'log-1'));
    assert.match(await refused(['one', 'without-log']), /^'without-log' lacks the log/);
  });

  test('lists that differ: the first source that does is named', async () => {
    await write(join(source, '3b.pgm'), image(3, 3, 3));
    await part('grown', 2, 2);
    await rm(join(source, '3b.pgm'));
    assert.match(
      await refused(['one', 'grown']),
      /but part 1 \('one'\) lists 'file:.*\/4\.pgm', and part 2 \('grown'\) lists 'file:.*\/3b\.pgm': make the parts from one plan/,
    );
    await utimes(join(source, '2.pgm'), 1, 1);
    await part('changed', 2, 2);
    assert.match(
      await refused(['one', 'changed']),
      /lists 'file:.*\/2\.pgm' of version .*, and part 2 \('changed'\) lists 'file:.*\/2\.pgm' of version /,
    );
  });

  test('a plan serves parts, and only a plan', async () => {
    const spec = specOf(source, at('plan'), { share: { number: 1, of: 1, plan: '', splitImages: false } });
    await writePlan(spec);
    const share = await readPlan(at('plan'), { number: 2, of: 3, splitImages: true }, uriOf('x'));
    assert.deepEqual(share.share, { number: 2, of: 3, plan: uriOf('plan'), splitImages: true });
    assert.deepEqual(share.sources, spec.sources);
    const asPart = readPlan(at('one'), { number: 1, of: 2, splitImages: false }, uriOf('x'));
    await assert.rejects(asPart, { message: `Expected a plan but the job in '${at('one')}' is part 1 of 2` });
    const missing = readPlan(at('nowhere'), { number: 1, of: 2, splitImages: false }, uriOf('x'));
    await assert.rejects(missing, /^UsageError: Expected a plan but '.*nowhere' has no job\.json of halogrid/);
  });

  test('a part that cannot be read any more fails the merge, which names it, its place and why', async () => {
    await copyToBucket(store, at('two'), 'two');
    refuses = (url) => url.includes('two/.halogrid/parts/');
    const job = await merge([at('one'), 's3://parts/two'], uriOf('of-refused'));
    refuses = () => false;
    assert.equal(job.state, JobState.FAILED);
    assert.match(
      job.error,
      /^'s3:\/\/parts\/two' cannot be read: Access to 'two\/\.halogrid\/parts\/.*' is denied: 403/,
    );
  });

  test('a damaged part fails the merge, which names it and its remedy', async () => {
    await part('first', 1, 2);
    await part('second', 2, 2);
    const parts = join(at('second'), '.halogrid', 'parts');
    for (const id of await readdir(parts)) {
      const path = join(parts, id, 'features.parquet');
      const bytes = await readFile(path);
      await writeFile(
        path,
        bytes.map((byte, i) => (i > 4 && i < bytes.length - 9 ? byte ^ 1 : byte)),
      );
    }
    await copyToBucket(store, at('second'), 'second');
    for (const second of [at('second'), 's3://parts/second']) {
      const job = await merge([at('first'), second], uriOf('of-damaged'));
      assert.equal(job.state, JobState.FAILED);
      assert.match(job.error, /Part 2 of 2 in '.*second' is damaged: .*; run that part again with --fresh$/);
    }
    await part('second', 2, 2, { fresh: true });
    assert.equal((await merge([at('first'), at('second')], uriOf('of-damaged'))).state, JobState.COMPLETE);
  });
});
