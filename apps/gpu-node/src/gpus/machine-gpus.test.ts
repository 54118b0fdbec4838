import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findGpus, heldGpuMinors, openDevices } from './machine-gpus.ts';
import { devicePath } from './nvidia-gpu.ts';
import { pinGpus } from './pin-gpus.ts';
import { openGpu, requirePlacement } from './prove-placement.ts';
import { canMakeDevices, makeGpuTree } from './testing/gpu-tree.ts';

// Cards are device files with the right numbers, and files of the driver, under a folder. Nothing ever opens them.

const root = await mkdtemp(join(tmpdir(), 'halogrid-gpus-'));
after(() => rm(root, { recursive: true, force: true }));
const skip = canMakeDevices ? false : 'only root makes device files';
/** There is no driver, so that opening them fails. */
const noneIsOpened = async () => true;
const isLinux = process.platform === 'linux';

test('without a driver there is no inventory', async () => {
  assert.equal(await findGpus(join(root, 'nothing')), undefined);
});

test('cards are found, and those without their device file are hidden', { skip }, async () => {
  const machine = join(root, 'found');
  await makeGpuTree(machine, [2, 0, 1]);
  await rm(join(machine, 'dev/nvidia0'));
  const { visible, hidden } = (await findGpus(machine, noneIsOpened))!;
  assert.deepEqual(
    visible.map(({ minor }) => minor),
    [2, 1],
  );
  assert.deepEqual(
    hidden.map(({ minor }) => minor),
    [0],
  );
});

test('cards whose device file cannot be opened are hidden', { skip }, async () => {
  const machine = join(root, 'closed');
  await makeGpuTree(machine, [0, 1]);
  const { visible, hidden } = (await findGpus(machine, async (path) => path.endsWith('nvidia1')))!;
  assert.deepEqual(
    [visible, hidden].map((cards) => cards.map(({ minor }) => minor)),
    [[1], [0]],
  );
  // Without a driver, none can be opened.
  assert.equal((await findGpus(machine))!.hidden.length, 2);
});

test('a process that is started for one card sees only that card', { skip }, async () => {
  const machine = join(root, 'pinned');
  await makeGpuTree(machine, [1, 2, 0]);
  const inventory = (await findGpus(machine, noneIsOpened))!;
  const chosen = inventory.visible.map((gpu, index) => ({ index, gpu }));
  for (const { gpu, prefix } of await pinGpus(chosen, inventory, (each) => join(machine, devicePath(each)))) {
    const script = `import(${JSON.stringify(import.meta.resolve('./machine-gpus.ts'))}).then(async ({ findGpus }) =>
      console.log(JSON.stringify(await findGpus(${JSON.stringify(machine)}, async () => true))))`;
    const [file, ...args] = [...prefix, process.execPath, '-e', script];
    const seen = JSON.parse(execFileSync(file!, args, { encoding: 'utf8' }));
    assert.deepEqual(seen.visible, [gpu]);
    assert.equal(seen.hidden.length, 2);
  }
  assert.equal((await findGpus(machine, noneIsOpened))!.visible.length, 3, 'other processes see as many as before');
});

test('with a single card nothing needs to be isolated', async () => {
  const gpu = { busId: '0000:0f:00.0', uuid: undefined, model: '', minor: 0 };
  const [pin] = await pinGpus([{ index: 0, gpu }], { visible: [gpu], hidden: [] });
  assert.deepEqual(pin?.prefix, []);
});

test('if isolation is not possible, the reason is given', { skip: !isLinux }, async () => {
  const gpus = [0, 1].map((minor) => ({ busId: `0000:0${minor}:00.0`, uuid: undefined, model: '', minor }));
  const chosen = gpus.map((gpu, index) => ({ index, gpu }));
  const pins = pinGpus(chosen, { visible: gpus, hidden: [] }, ({ minor }) => join(root, `no-such-file-${minor}`));
  await assert.rejects(pins, /^Error: GPUs cannot be kept apart here: .*; run a container a GPU instead/);
});

test('open devices of this and of another process are seen by their numbers', { skip: !isLinux }, async () => {
  const handle = await open('/dev/zero');
  try {
    const has = (devices: object[], minor: number) =>
      devices.some((each) => JSON.stringify(each) === JSON.stringify({ major: 1, minor }));
    assert.ok(has(await openDevices(process.pid), 5));
    assert.deepEqual(await heldGpuMinors(process.pid), []);
    const child = spawn('cat', { stdio: ['pipe', handle.fd, 'ignore'] });
    await once(child, 'spawn');
    assert.ok(has(await openDevices(child.pid!), 5));
    child.stdin!.end();
    await once(child, 'close');
  } finally {
    await handle.close();
  }
});

test('a process that is not on the card it was meant for is refused', { skip: !isLinux }, async () => {
  const meant = [{ busId: 'ffff:ff:1f.7', pid: process.pid }];
  const sentence =
    /^Error: It cannot be proven that each node has a GPU of its own: .* ffff:ff:1f\.7, which the driver does not list$/;
  await assert.rejects(requirePlacement(meant), sentence);
  assert.equal(await openGpu(), undefined);
});

test('the open files of an ended process cannot be read', { skip: !isLinux }, async () => {
  const child = spawn('true');
  await once(child, 'close');
  await assert.rejects(heldGpuMinors(child.pid!), /ENOENT/);
});
