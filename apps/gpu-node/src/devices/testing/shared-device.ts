import { after } from 'node:test';
import type { NodeDevice } from '../device.ts';
import { openWebGpuDevice } from '../webgpu-device.ts';
import { testedKind } from './tested-kind.ts';

let opened: Promise<NodeDevice> | undefined;
after(async () => (await opened)?.close());

/**
 * The device of all suites of a process that need no device of their own, closed after the last one. SwiftShader
 * compiles a program once for each device, half a second of a core each; suites share a third of their programs
 * (measured).
 */
export function sharedDevice(): Promise<NodeDevice> {
  opened ??= openWebGpuDevice(testedKind);
  return opened;
}
