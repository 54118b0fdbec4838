import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GpuKernelBuffers } from './bind-groups.ts';
import { BindGroups } from './bind-groups.ts';

/** A buffer that is only a name. */
const buffer = (label: string): GPUBuffer => ({ label }) as GPUBuffer;

test('the same buffers with the same offsets share a bind group, and others have their own', () => {
  let made = 0;
  const groups = new BindGroups(() => ({ label: String(++made) }) as GPUBindGroup);
  const [planes, table, counts, maps] = ['planes', 'table', 'counts', 'maps'].map(buffer);
  const all: GpuKernelBuffers = {
    planes: planes!,
    maps: maps!,
    items: { buffer: table!, offset: 0 },
    histograms: { buffer: counts!, offset: 0 },
  };
  const first = groups.of(all);
  assert.equal(groups.of({ ...all, items: { ...all.items } }), first);
  const others: GpuKernelBuffers[] = [
    { ...all, planes: buffer('planes') },
    { ...all, maps: buffer('maps') },
    { ...all, items: { buffer: table!, offset: 256 } },
    { ...all, items: { buffer: buffer('table'), offset: 0 } },
    { ...all, histograms: { buffer: buffer('counts'), offset: 0 } },
    { ...all, histograms: { buffer: counts!, offset: 256 } },
  ];
  const found = others.map((its) => groups.of(its).label);
  assert.deepEqual(found, ['2', '3', '4', '5', '6', '7']);
  assert.equal(groups.of(others[0]!).label, '2');
});
