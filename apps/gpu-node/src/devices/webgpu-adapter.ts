// The only importer of `webgpu`.
import { existsSync } from 'node:fs';
import { adapterName, isSoftwareAdapter } from '@halogrid/kernels/webgpu';
import { loadKoffi } from '@halogrid/threads/load-koffi';
import type { DeviceInfo } from './device.ts';
import { pollDawnCalmly } from './runtime.ts';
import { provideSoftwareVulkan } from './software-vulkan.ts';

/** Dawn's root object. It must stay referenced as long as any device lives: if it is collected, the process crashes. */
let root: GPU | undefined;

const noDriver = 'The Vulkan loader finds no GPU driver (see VK_DRIVER_FILES)';

/** A query of an index, or a single batch, takes a GPU no longer than this. */
const eagerMs = 2;

export interface OpenAdapter {
  adapter: GPUAdapter;
  info: DeviceInfo;
}

/**
 * Opens the machine's GPU, or SwiftShader for 'software'. Rejects with one sentence that says why it cannot. A process
 * opens one kind: the Vulkan loader reads its driver list once.
 */
export async function openAdapter(kind: 'gpu' | 'software'): Promise<OpenAdapter> {
  if (kind === 'software') await provideSoftwareVulkan();
  else requireVulkan();
  // Imported late: the Vulkan loader must be in place before Dawn looks for it.
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  if (!root) pollDawnCalmly(kind === 'gpu' ? eagerMs : 0);
  root ??= create([`disable-dawn-features=${disabledFeatures(kind).join(',')}`]);

  const adapter = await root.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new Error(noDriver);
  const name = adapterName(adapter.info);
  if (kind === 'gpu' && isSoftwareAdapter(adapter.info))
    throw new Error(`The only Vulkan adapter is software (${name})`);
  return { adapter, info: { kind, name, driver: adapter.info.description.trim() } };
}

function disabledFeatures(kind: 'gpu' | 'software'): string[] {
  // Dawn rounds timestamps to 65 µs, longer than a kernel takes, against fingerprinting in browsers.
  const features = ['timestamp_quantization'];
  // SwiftShader compiles this extension's clearing of workgroup memory word by word: LDP takes 3.5 s with it, 1.0 s
  // without (measured).
  if (kind === 'software') features.push('use_vulkan_zero_initialize_workgroup_memory_extension');
  return features;
}

/** Device files of GPU drivers on Linux. If one exists, Dawn's own messages are worth reading. */
const gpuFiles = ['/dev/dri', '/dev/nvidiactl', '/dev/dxg'];

/** The size of VkInstanceCreateInfo, whose fields are all zero except its type, 1. */
const instanceInfoBytes = 64;

/** Throws a sentence if the Vulkan loader or every driver is missing: Dawn would only print warnings. */
function requireVulkan(): void {
  if (process.platform !== 'linux') return;
  const loader = loadVulkan();
  if (gpuFiles.some((file) => existsSync(file))) return;
  const create = loader.func(
    'int32_t vkCreateInstance(const void *info, const void *allocator, _Out_ void **instance)',
  );
  const instance = [null];
  const info = Buffer.alloc(instanceInfoBytes);
  info.writeInt32LE(1);
  if (create(info, null, instance) !== 0) throw new Error(noDriver);
  loader.func('void vkDestroyInstance(void *instance, const void *allocator)')(instance[0], null);
}

function loadVulkan() {
  try {
    return loadKoffi().load('libvulkan.so.1');
  } catch {
    throw new Error('The Vulkan loader libvulkan.so.1 is not installed (Debian: libvulkan1)');
  }
}
