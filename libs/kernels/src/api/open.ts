import { ParameterError } from '../kernel/parameter-error.ts';
import { adapterName, isSoftwareAdapter, requestDevice } from '../webgpu/index.ts';
import { checkOptions, shown } from './check-call.ts';
import { ThreadDevice } from './thread-device.ts';
import type { Device, OpenOptions } from './types.ts';
import { WebGpuDevice } from './webgpu-device.ts';

const choices = ['auto', 'webgpu', 'wasm', 'reference'];

/**
 * Opens a device. Rejects with ParameterError for a wrong option, and with Error, in a sentence or two, if the chosen
 * device is not available.
 */
export async function open(options?: OpenOptions): Promise<Device> {
  const { on = 'auto', gpu, device } = checkOptions(options, ['on', 'gpu', 'device']);
  if (!choices.includes(on)) throw new ParameterError('on', shown(on), choices);
  if (on === 'wasm' || on === 'reference') {
    if (gpu || device) throw new ParameterError('on', on, 'auto or webgpu with a gpu or a device');
    return new ThreadDevice(on, `${on} was asked for.`);
  }
  if (device) return new WebGpuDevice(device as GPUDevice, 'This device was given.');
  try {
    return await openWebGpu((gpu as GPU | undefined) ?? globalThis.navigator?.gpu, on === 'auto');
  } catch (error) {
    if (on === 'webgpu') throw error;
    return new ThreadDevice('wasm', (error as Error).message);
  }
}

async function openWebGpu(gpu: GPU | undefined, wantsHardware: boolean): Promise<Device> {
  if (!gpu) {
    throw new Error(
      'WebGPU is missing here: in a browser it needs https or localhost, in Node.js a gpu of the package webgpu.',
    );
  }
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new Error('WebGPU finds no adapter here.');
  const isSoftware = isSoftwareAdapter(adapter.info);
  if (wantsHardware && isSoftware) {
    throw new Error(
      `The only WebGPU adapter is software (${adapterName(adapter.info)}), which is slower than WebAssembly.`,
    );
  }
  const reason = isSoftware ? 'WebGPU was asked for.' : 'There is a GPU.';
  return new WebGpuDevice(await requestDevice(adapter), reason, gpu);
}

let usual: Promise<Device> | undefined;

/** The device of runs without `device`: opened once, and again after it was lost. */
export function usualDevice(): Promise<Device> {
  if (usual) return usual;
  const forget = (): void => {
    usual = undefined;
  };
  usual = open();
  usual.then((device) => (device instanceof WebGpuDevice ? device.ended.catch(forget) : undefined), forget);
  return usual;
}
