import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestWord } from './did-you-mean.ts';

const names = ['tile', 'map', 'max-quarantined', 'captured-zone', 'to', 'out', 'op'];

const meant: [typed: string, name: string | undefined][] = [
  ['tiel', 'tile'],
  ['title', 'tile'],
  ['maps', 'map'],
  ['max-quarentined', 'max-quarantined'],
  ['captured-timezone', undefined],
  ['capturedzone', 'captured-zone'],
  ['frobnicate', undefined],
  // With half of its letters changed, a short name is another name.
  ['tp', undefined],
  ['', undefined],
];

for (const [typed, name] of meant)
  test(`'${typed}' is meant as ${name}`, () => assert.equal(nearestWord(typed, names), name));
