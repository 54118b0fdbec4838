import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { DamagedLogError, type LogRange, LogWriter, lastGroup, readLog, realDisk } from './log-file.ts';

describe('a log of facts', () => {
  let folder: string;
  let logs = 0;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'halogrid-log-'));
  });
  after(() => rm(folder, { recursive: true }));

  /** Writes a log; resolves with its path and where each group ends. */
  async function write(groups: readonly string[][], name = 'job 1') {
    const path = join(folder, `log-${logs++}`);
    const log = await LogWriter.create(path, name);
    const ends: number[] = [];
    const checkpoints: number[] = [];
    for (const [i, facts] of groups.entries()) {
      // The first group and every third one after it have a checkpoint.
      const place = await log.append(
        facts.map((fact) => Buffer.from(fact)),
        i % 3 === 0,
      );
      ends.push(place.end);
      checkpoints.push(i % 3 === 0 ? place.offset : checkpoints.at(-1)!);
    }
    await log.close();
    return { path, ends, checkpoints };
  }

  it('can be read only by its owner', async () => {
    const { path } = await write([['a']]);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  async function read(path: string, range: LogRange = {}, name = 'job 1') {
    const torn: number[] = [];
    const groups = await Array.fromAsync(readLog(path, name, range, (at) => torn.push(at)));
    return { groups: groups.map(({ facts }) => facts.map((fact) => Buffer.from(fact).toString())), torn };
  }

  const groupsOf = fc.array(fc.array(fc.string({ maxLength: 30 }), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 6,
  });

  it('returns every group, starting at any group', () =>
    fc.assert(
      fc.asyncProperty(groupsOf, async (groups) => {
        const { path, ends } = await write(groups);
        for (const [i, from] of [0, ...ends].entries()) {
          assert.deepEqual(await read(path, { from }), { groups: groups.slice(i), torn: [] });
        }
      }),
      { numRuns: runs(30) },
    ));

  it('ends where the last append was cut off, and reports this', () =>
    fc.assert(
      fc.asyncProperty(groupsOf, fc.nat(), async (groups, cut) => {
        const { path, ends } = await write(groups);
        const bytes = (await readFile(path)).subarray(0, cut % (ends.at(-1)! + 1));
        await writeFile(path, bytes);
        const whole = ends.filter((end) => end <= bytes.length);
        const at = whole.at(-1) ?? 0;
        const torn = at === bytes.length ? [] : [at];
        assert.deepEqual(await read(path), { groups: groups.slice(0, whole.length), torn });
      }),
      { numRuns: runs(100) },
    ));

  it('finds its last whole group, and the last checkpoint, by a search from its end', () =>
    fc.assert(
      fc.asyncProperty(groupsOf, fc.nat(), fc.boolean(), async (groups, cut, hasNoise) => {
        const { path, ends, checkpoints } = await write(groups);
        const bytes = (await readFile(path)).subarray(0, cut % (ends.at(-1)! + 1));
        const noise = hasNoise ? [bytes.subarray(0, 25)] : [];
        await writeFile(path, Buffer.concat([bytes, ...noise]));
        const whole = ends.filter((end) => end <= bytes.length).length;
        const group = await lastGroup(path, 'job 1');
        const expected = whole === 0 ? undefined : [ends[whole - 1], checkpoints[whole - 1], groups[whole - 1]];
        const found = group && [group.end, group.checkpoint, group.facts.map((fact) => Buffer.from(fact).toString())];
        assert.deepEqual(found, expected);
        for (const [i, end] of ends.slice(0, whole).entries()) {
          assert.equal((await lastGroup(path, 'job 1', end))!.checkpoint, checkpoints[i]);
          await assert.rejects(lastGroup(path, 'job 1', end - 1), DamagedLogError);
        }
      }),
      { numRuns: runs(100) },
    ));

  it('is refused if a byte has changed before another group, or before the end that counts', () =>
    fc.assert(
      fc.asyncProperty(groupsOf, fc.nat(), fc.integer({ min: 1, max: 255 }), async (groups, place, change) => {
        const { path, ends } = await write(groups);
        const bytes = await readFile(path);
        const at = place % bytes.length;
        bytes[at]! ^= change;
        await writeFile(path, bytes);
        await assert.rejects(read(path, { end: ends.at(-1)! }), DamagedLogError);
        const lastBegin = ends.at(-2) ?? 0;
        if (at < lastBegin) await assert.rejects(read(path), DamagedLogError);
        else assert.deepEqual(await read(path), { groups: groups.slice(0, -1), torn: [lastBegin] });
      }),
      { numRuns: runs(100) },
    ));

  it('does not accept groups of another log, or from another place', async () => {
    const { path } = await write([['a'], ['b']]);
    assert.deepEqual(await read(path, {}, 'job 2'), { groups: [], torn: [0] });
    const bytes = await readFile(path);
    await writeFile(path, Buffer.concat([bytes, bytes]));
    assert.deepEqual(await read(path), { groups: [['a'], ['b']], torn: [bytes.length] });
  });

  it('is refused if it is shorter than the bytes that count', async () => {
    const { path, ends } = await write([['a'], ['b']]);
    await writeFile(path, (await readFile(path)).subarray(0, ends[0]!));
    await assert.rejects(read(path, { end: ends[1]! }), {
      name: 'DamagedLogError',
      message: `The log '${path}' has ${ends[0]} bytes, but ${ends[1]} were written`,
    });
  });

  it('ends at the bytes that count, whatever follows them', async () => {
    const { path, ends } = await write([['a'], ['b']]);
    assert.deepEqual(await read(path, { end: ends[0]! }), { groups: [['a']], torn: [] });
  });

  it('is not written over', async () => {
    const { path } = await write([['a']]);
    await assert.rejects(LogWriter.create(path, 'job 1'), {
      message: new RegExp(`^The log '${path}' could not be begun: EEXIST`),
    });
  });

  it('is begun once, also if its name could not be made durable at first', async () => {
    const path = join(folder, `log-${logs++}`);
    let failures = 2;
    const syncFolder = async (of: string): Promise<void> => {
      if (failures-- > 0) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
      await realDisk.syncFolder(of);
    };
    const log = await LogWriter.create(path, 'job 1', { ...realDisk, syncFolder });
    for (let i = 0; i < 2; i++) {
      await assert.rejects(log.append([Buffer.from('a')]), {
        message: `The log '${path}' could not be written: EIO: i/o error, fsync`,
      });
      assert.equal(log.end, 0);
    }
    await log.append([Buffer.from('a')]);
    await log.close();
    assert.deepEqual(await read(path), { groups: [['a']], torn: [] });
  });

  it('is lost if its file is removed or replaced while in use, and waits if its folder is', async () => {
    const own = join(folder, 'own');
    await mkdir(own);
    const path = join(own, 'log-1');
    const log = await LogWriter.create(path, 'job 1');
    await log.append([Buffer.from('a')]);
    const { end } = log;
    await rename(own, `${own}-away`);
    await assert.rejects(log.append([Buffer.from('b')]), ({ message, cause }: Error) => {
      assert.match(message, new RegExp(`^The log '${path}' could not be written: ENOENT`));
      return (cause as NodeJS.ErrnoException).code === 'ENOENT';
    });
    await rename(`${own}-away`, own);
    assert.equal((await log.append([Buffer.from('b')])).offset, end);
    const message = `The log '${path}' was deleted or replaced while in use; the results so far are lost: run the job again`;
    const lost = { name: 'DamagedLogError', message };
    await rename(path, `${path}-before`);
    await assert.rejects(log.append([Buffer.from('c')]), lost);
    await writeFile(path, await readFile(`${path}-before`));
    await assert.rejects(log.append([Buffer.from('c')]), lost);
    await log.close();
  });
});
