import { after } from 'node:test';
import type { NodeDevice } from '../device.ts';
import { openWebGpuDevice } from '../webgpu-device.ts';
import { testedKind } from './tested-kind.ts';

let opened: Promise<NodeDevice> | undefined;
after(async () => (await opened)?.close());

/**
 * The device of all suites of a process that need none of their own, closed behind the last. SwiftShader compiles a
 * program once for a device, for half a second of a core each; suites share a third of them (measured).
 */
export function sharedDevice(): Promise<NodeDevice> {
  opened ??= openWebGpuDevice(testedKind);
  return opened;
}
