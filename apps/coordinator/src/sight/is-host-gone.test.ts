import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InputFault } from '@halogrid/sources';
import { isHostGone } from './is-host-gone.ts';

interface Case {
  name: string;
  fault: InputFault;
  /** How other listed files fail; undefined: they are there. */
  others: (InputFault | undefined)[];
  isGone: boolean;
  /** How the same file fails when it is requested again. */
  again?: InputFault;
}

const table: Case[] = [
  { name: 'two files are away', fault: 'away', others: ['away'], isGone: true },
  { name: 'another is there', fault: 'away', others: [undefined], isGone: false },
  { name: 'one of two others is there', fault: 'away', others: ['away', undefined], isGone: false },
  { name: 'another is missing, as the host itself says', fault: 'away', others: ['access'], isGone: false },
  { name: 'another is refused, as the host itself says', fault: 'away', others: ['closed'], isGone: false },
  { name: 'no other is known, and the same is away again', fault: 'away', others: [], again: 'away', isGone: true },
  { name: 'no other is known, and the same is missing now', fault: 'away', others: [], again: 'access', isGone: false },
  { name: 'two files are refused', fault: 'closed', others: ['closed'], isGone: true },
  { name: 'one is refused, and another there', fault: 'closed', others: [undefined], isGone: false },
  { name: 'one is refused, and no other known', fault: 'closed', others: [], again: 'closed', isGone: false },
  { name: 'one is refused, and the host away by now', fault: 'closed', others: ['away'], isGone: true },
  { name: 'one is missing', fault: 'access', others: ['away'], isGone: false },
  { name: 'one differs from the listed version', fault: 'changed', others: ['away'], isGone: false },
  { name: 'one is damaged', fault: 'content', others: ['away'], isGone: false },
  { name: 'this process has too many files open', fault: 'process', others: ['away'], isGone: false },
];

for (const { name, fault, others, again, isGone } of table) {
  test(`${name}: ${isGone ? 'the host' : 'not the host'}`, async () => {
    const uri = 'http://a/failed';
    const faults = new Map([[uri, again], ...others.map((other, i) => [`http://a/${i}`, other] as const)]);
    const see = async (asked: string) => {
      const its = faults.get(asked);
      return its
        ? { kind: 'not there' as const, reason: 'No', isMissing: false, fault: its }
        : { kind: 'there' as const, file: { version: 'v', sha256: new Uint8Array(0), sizeBytes: 1 } };
    };
    assert.equal(
      await isHostGone(
        { see },
        { uri, fault },
        [...others.keys()].map((i) => `http://a/${i}`),
      ),
      isGone,
    );
  });
}
