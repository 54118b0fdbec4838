// For tests: a folder with files as NVIDIA's driver has them under /.
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nvidiaMajor } from '../nvidia-gpu.ts';

/** Making device files takes root, on Linux. */
export const canMakeDevices = process.platform === 'linux' && process.getuid?.() === 0;

/** Makes a machine with a card for each minor number, at ascending PCI addresses. */
export async function makeGpuTree(root: string, minors: readonly number[]): Promise<void> {
  await mkdir(join(root, 'dev'), { recursive: true });
  for (const [index, minor] of minors.entries()) {
    const busId = `0000:${(0x0f + index * 0x1e).toString(16).padStart(2, '0')}:00.0`;
    const folder = join(root, 'proc/driver/nvidia/gpus', busId);
    await mkdir(folder, { recursive: true });
    const uuid = `GPU-${String(minor).repeat(8)}-0c39-7e4d-91b7-2f64e0a8d3c5`;
    const lines = [
      'Model: \t\t NVIDIA H200',
      `GPU UUID: \t ${uuid}`,
      `Bus Location: \t ${busId}`,
      `Device Minor: \t ${minor}`,
    ];
    await writeFile(join(folder, 'information'), `${lines.join('\n')}\n`);
    execFileSync('mknod', [join(root, `dev/nvidia${minor}`), 'c', String(nvidiaMajor), String(minor)]);
  }
}
