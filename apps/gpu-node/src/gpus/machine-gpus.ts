import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type DeviceNumbers, type GpuInventory, gpuMinors, takeInventory } from './inventory.ts';
import type { IsolationFacts } from './isolation.ts';
import { devicePath, type NvidiaGpu, parseInformation } from './nvidia-gpu.ts';

/** The cards that NVIDIA's driver lists under `root`; undefined if there is no driver. */
export async function findGpus(root = '/', canOpen = opens): Promise<GpuInventory | undefined> {
  const list = join(root, 'proc/driver/nvidia/gpus');
  const names = await readdir(list).catch(() => undefined);
  if (!names) return undefined;
  const gpus = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(list, name, 'information'), 'utf8').catch(() => '');
      return parseInformation(text);
    }),
  );
  const known = gpus.filter((gpu): gpu is NvidiaGpu => gpu !== undefined);
  const found = known.map(async (gpu) => {
    const path = join(root, devicePath(gpu));
    const device = await deviceAt(path);
    return { gpu, device, opens: device !== undefined && (await canOpen(path)) };
  });
  return takeInventory(await Promise.all(found));
}

/** Whether this process can open the device file, as the driver's library would. */
async function opens(path: string): Promise<boolean> {
  try {
    await (await open(path, 'r+')).close();
    return true;
  } catch {
    return false;
  }
}

/**
 * Minor numbers of the cards whose device files the process holds open. Rejects if the process may not be inspected.
 */
export async function heldGpuMinors(pid: number): Promise<number[]> {
  return gpuMinors(await openDevices(pid));
}

/** The devices among the open files of a process. Rejects if the process may not be inspected. */
export async function openDevices(pid: number): Promise<DeviceNumbers[]> {
  const folder = `/proc/${pid}/fd`;
  // This gives the numbers of the open file, even if something else is mounted over its path now.
  const devices = await Promise.all((await readdir(folder)).map((name) => deviceAt(join(folder, name))));
  return devices.filter((device): device is DeviceNumbers => device !== undefined);
}

/** What the kernel says about permissions to isolate. */
export async function readIsolationFacts(): Promise<IsolationFacts> {
  const read = (path: string) => readFile(path, 'utf8').catch(() => '');
  const number = async (path: string) => {
    const text = (await read(path)).trim();
    return text === '' ? undefined : Number(text);
  };
  return {
    platform: process.platform,
    capEff: /^CapEff:\s*([0-9a-f]+)$/m.exec(await read('/proc/self/status'))?.[1] ?? '0',
    maxUserNamespaces: await number('/proc/sys/user/max_user_namespaces'),
    unprivilegedUserNamespaces: await number('/proc/sys/kernel/unprivileged_userns_clone'),
    appArmorRestricts: await number('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
  };
}

/** The numbers of the character device at `path`; undefined if there is no such device. */
async function deviceAt(path: string): Promise<DeviceNumbers | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found?.isCharacterDevice() ? splitDevice(found.rdev) : undefined;
}

/** Linux packs 12 bits of the major and 20 of the minor number as mmmM MMmm. */
function splitDevice(device: bigint): DeviceNumbers {
  return {
    major: Number((device >> 8n) & 0xfffn),
    minor: Number((device & 0xffn) | ((device >> 12n) & 0xfff00n)),
  };
}
