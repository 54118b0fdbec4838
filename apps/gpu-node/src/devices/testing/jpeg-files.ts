// The JPEGs that the suites of the JPEG decoder decode, and their device.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ColourConverter, JpegDecoder, type JpegFrame, readJpegFrame } from '@halogrid/jpeg';
import { mutate } from '@halogrid/jpeg/testing';
import { requestDevice } from '@halogrid/kernels/webgpu';
import { isThorough, repeated } from '@halogrid/testing';
import { openAdapter } from '../webgpu-adapter.ts';
import type { TestJpeg } from './run-jpegs.ts';
import { testedKind } from './tested-kind.ts';

/** Files of each kind; a GPU takes less time for them than the twin. */
const many = { software: { images: 120, mutants: 250 }, gpu: { images: 2000, mutants: 8000 } }[testedKind];
export const counts = { images: repeated(40, many.images), mutants: repeated(100, many.mutants) };

/** Files of several encoders. */
const fixtures = globSync(fileURLToPath(new URL('../../../../../libs/imaging/fixtures/*.jpg', import.meta.url)));

/** It has many groups of chunks, so results found for one component have to be right for the others. */
export const photograph = fileURLToPath(new URL('../../../../../samples/images/cloth.jpg', import.meta.url));

interface NamedJpeg {
  name: string;
  jpeg: Uint8Array;
}

const filesAt = (paths: readonly string[]): NamedJpeg[] =>
  paths.map((path) => ({ name: basename(path), jpeg: readFileSync(path) }));

export const fixturesNamed = (pattern: RegExp): NamedJpeg[] => filesAt(fixtures.filter((path) => pattern.test(path)));

export const filesOfEncoders = (): NamedJpeg[] => filesAt([...fixtures, photograph]);

/** The same without the photograph, for which SwiftShader takes seconds, unless more is asked for. */
export const someOfEncoders = (): NamedJpeg[] =>
  testedKind === 'gpu' || isThorough ? filesOfEncoders() : filesAt(fixtures);

/** Fixtures, each damaged differently. */
export function mutants(pattern: RegExp, count: number): NamedJpeg[] {
  const files = fixturesNamed(pattern);
  return Array.from({ length: count }, (_, i) => {
    const [file, other] = [files[i % files.length]!, files[(3 * i) % files.length]!];
    return { name: `${file.name}, seed ${i + 1}`, jpeg: mutate(file.jpeg, other.jpeg, i + 1) };
  });
}

/** The files that devices decode; `isFor` may leave out more. */
export function forDevices(files: readonly NamedJpeg[], isFor: (frame: JpegFrame) => boolean = () => true): TestJpeg[] {
  return files.flatMap(({ name, jpeg }) => {
    const frame = readJpegFrame(jpeg);
    return typeof frame === 'string' || !isFor(frame) ? [] : [{ name, jpeg, frame }];
  });
}

interface SuiteDevice {
  readonly device: GPUDevice;
  readonly decoder: JpegDecoder;
  readonly converter: ColourConverter;
}

let opened: Promise<SuiteDevice> | undefined;
after(async () => (await opened)?.device.destroy());

async function open(): Promise<SuiteDevice> {
  const device = await requestDevice((await openAdapter(testedKind)).adapter);
  device.onuncapturederror = ({ error }) => assert.fail(error.message);
  return { device, decoder: await JpegDecoder.create(device), converter: await ColourConverter.create(device) };
}

/**
 * The device and decoders of a suite, open while the tests of this process run; decoders are compiled once. An error
 * that nobody awaits fails the suite.
 */
export function deviceOfSuite(): SuiteDevice {
  let own: SuiteDevice;
  before(async () => {
    opened ??= open();
    own = await opened;
  });
  return {
    get device() {
      return own.device;
    },
    get decoder() {
      return own.decoder;
    },
    get converter() {
      return own.converter;
    },
  };
}
