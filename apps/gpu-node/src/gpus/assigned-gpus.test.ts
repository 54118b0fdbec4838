import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assignedGpus } from './assigned-gpus.ts';
import type { GpuInventory } from './inventory.ts';

/** Ordered by PCI address, as nvidia-smi numbers them; the device files are numbered otherwise. */
const gpu = (address: number, minor: number) => ({
  busId: `0000:0${address}:00.0`,
  uuid: `GPU-${String(minor).repeat(8)}-0c39`,
  model: 'NVIDIA L4',
  minor,
});
const [a, b, c] = [gpu(1, 2), gpu(2, 0), gpu(3, 1)];
const machine: GpuInventory = { visible: [a, b, c], hidden: [] };
/** The first card cannot be opened. */
const constrained: GpuInventory = { visible: [b, c], hidden: [a] };

const table: [env: Record<string, string>, inventory: GpuInventory, minors: number[] | undefined][] = [
  [{}, machine, undefined],
  [{ CUDA_VISIBLE_DEVICES: '0' }, machine, [2]],
  [{ CUDA_VISIBLE_DEVICES: '2,0' }, machine, [1, 2]],
  [{ CUDA_VISIBLE_DEVICES: ' 1 , 1 ' }, machine, [0]],
  [{ CUDA_VISIBLE_DEVICES: '1,-1,2' }, machine, [0]],
  [{ CUDA_VISIBLE_DEVICES: '' }, machine, []],
  [{ CUDA_VISIBLE_DEVICES: '-1' }, machine, []],
  [{ CUDA_VISIBLE_DEVICES: 'NoDevFiles' }, machine, []],
  [{ CUDA_VISIBLE_DEVICES: 'GPU-00000000-0c39' }, machine, [0]],
  [{ CUDA_VISIBLE_DEVICES: 'gpu-1111' }, machine, [1]],
  // CUDA counts the cards that it can open, Slurm the device files.
  [{ CUDA_VISIBLE_DEVICES: '0', SLURM_JOB_GPUS: '1' }, constrained, [0]],
  [{ SLURM_JOB_GPUS: '1' }, constrained, [1]],
  [{ SLURM_STEP_GPUS: '0', SLURM_JOB_GPUS: '0,1' }, machine, [0]],
  [{ NVIDIA_VISIBLE_DEVICES: 'all' }, constrained, undefined],
  [{ NVIDIA_VISIBLE_DEVICES: 'void' }, machine, undefined],
  [{ NVIDIA_VISIBLE_DEVICES: 'none' }, machine, []],
  [{ NVIDIA_VISIBLE_DEVICES: '1' }, constrained, [0]],
  [{ NVIDIA_VISIBLE_DEVICES: '1' }, machine, [0]],
  // A container that was given cards 5 and 6 of the machine lists these two.
  [{ NVIDIA_VISIBLE_DEVICES: '5,6' }, { visible: [a, b], hidden: [] }, undefined],
  [{ NVIDIA_VISIBLE_DEVICES: 'all', CUDA_VISIBLE_DEVICES: '1' }, constrained, [1]],
];

for (const [env, inventory, minors] of table) {
  const where = inventory === constrained ? ', where the first card cannot be opened,' : '';
  test(`${JSON.stringify(env)}${where} assigns ${minors ? `[${minors}]` : 'nothing'}`, () => {
    const assigned = assignedGpus(env, inventory);
    assert.deepEqual(
      assigned?.gpus.map((each) => each.gpu.minor),
      minors,
    );
    for (const { index, gpu: card } of assigned?.gpus ?? []) assert.equal(inventory.visible[index], card);
  });
}

const refused: [env: Record<string, string>, RegExp][] = [
  [{ CUDA_VISIBLE_DEVICES: '2' }, /^CUDA_VISIBLE_DEVICES=2 assigns '2', which is not a GPU of this machine/],
  [
    { CUDA_VISIBLE_DEVICES: 'GPU-22222222-0c39' },
    /'GPU-22222222-0c39' \(0000:01:00\.0\), which this process cannot open$/,
  ],
  [{ CUDA_VISIBLE_DEVICES: 'GPU-9999' }, /which is not a GPU of this machine that NVIDIA's driver lists$/],
  [{ CUDA_VISIBLE_DEVICES: 'first' }, /assigns 'first', which is not a GPU/],
  [{ SLURM_JOB_GPUS: '2' }, /^SLURM_JOB_GPUS=2 assigns '2' \(0000:01:00\.0\), which this process cannot open$/],
  [{ NVIDIA_VISIBLE_DEVICES: '0' }, /^NVIDIA_VISIBLE_DEVICES=0 assigns '0' \(0000:01:00\.0\), which this process/],
  [
    { CUDA_VISIBLE_DEVICES: 'MIG-4b2c-1f' },
    /'MIG-4b2c-1f', a part of a GPU \(MIG\): .*; give this process a whole GPU/,
  ],
  [{ NVIDIA_VISIBLE_DEVICES: '0:1' }, /'0:1', a part of a GPU \(MIG\)/],
];

for (const [env, sentence] of refused) {
  test(`${JSON.stringify(env)} is refused`, () =>
    assert.throws(() => assignedGpus(env, constrained), { message: sentence }));
}

test('whatever the variables hold, only cards that can be opened are assigned, each once', () => {
  const word = fc.oneof(fc.constantFrom('0', '1', '2', '-1', '', 'GPU-1111', 'MIG-1', 'all'), fc.string());
  const value = fc.array(word, { maxLength: 4 }).map((words) => words.join());
  fc.assert(
    fc.property(
      fc.constantFrom('CUDA_VISIBLE_DEVICES', 'SLURM_JOB_GPUS', 'NVIDIA_VISIBLE_DEVICES'),
      value,
      (name, text) => {
        let cards: unknown[] = [];
        try {
          cards = assignedGpus({ [name]: text }, constrained)?.gpus.map((each) => each.gpu) ?? [];
        } catch (error) {
          assert.match((error as Error).message, new RegExp(`^${name}=`));
        }
        assert.equal(new Set(cards).size, cards.length);
        for (const card of cards) assert.ok(card === b || card === c);
      },
    ),
  );
});
