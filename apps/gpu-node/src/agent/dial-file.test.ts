import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type CoordinatorPlace, removeCoordinatorFile, writeCoordinatorFile } from '@halogrid/service/coordinator-file';
import { eventually } from '@halogrid/testing';
import type { Connection, Dial } from './dial.ts';
import { dialFile } from './dial-file.ts';

const folder = await mkdtemp(join(tmpdir(), 'halogrid-dial-file-'));
after(() => rm(folder, { recursive: true }));
const file = join(folder, 'coordinator');
const heartbeat = { $case: 'heartbeat', value: {} } as const;
const place = (host: string): CoordinatorPlace => ({ host, grpc: 7, http: 8 });

/** Dials by the file, and notes what happens. */
function dialling() {
  const happened: string[] = [];
  const dial: Dial = (address): Connection => {
    happened.push(`dial ${address}`);
    return {
      send: ({ $case }) => happened.push($case),
      closeStream: () => happened.push('close'),
      hangUp: () => happened.push('hang up'),
    };
  };
  const dialNow = dialFile(file, dial, ({ host }) => happened.push(`found ${host}`));
  const start = () =>
    dialNow('old:1', {
      ordered: () => {},
      disconnected: (reason, isRefusal) => happened.push(`disconnected ${isRefusal}: ${reason}`),
    });
  const until = (words: string[]) =>
    eventually(words.join(', '), () => JSON.stringify(happened) === JSON.stringify(words));
  return { start, until, happened };
}

test('each dial goes to the coordinator that the file names then, and nothing that is sent meanwhile is lost', async () => {
  const { start, until } = dialling();
  await writeCoordinatorFile(file, place('a'));
  const first = start();
  first.send(heartbeat);
  first.closeStream();
  await until(['found a', 'dial a:7', 'heartbeat', 'close']);
  await writeCoordinatorFile(file, place('b'));
  start();
  await until(['found a', 'dial a:7', 'heartbeat', 'close', 'found b', 'dial b:7']);
});

test('without the file nothing is dialled, and the node is told why', async () => {
  await removeCoordinatorFile(file, place('b'));
  const { start, until } = dialling();
  start().send(heartbeat);
  await until([`disconnected false: no coordinator has written '${file}' (--coordinator-file)`]);
});

test('a connection that is given up before the file was read dials nothing', async () => {
  await writeCoordinatorFile(file, place('c'));
  const { start, until, happened } = dialling();
  start().hangUp();
  start();
  await until(['found c', 'dial c:7']);
  assert.equal(happened.length, 2);
});
