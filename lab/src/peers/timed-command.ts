import { spawn } from 'node:child_process';
import { cpus } from 'node:os';

/** A finished run of a program. */
export interface TimedRun {
  stdout: string;
  /** From the call to the end of the program. */
  wallSeconds: number;
  /** User and system time of the program and of its descendants that were waited for. */
  cpuSeconds: number;
  /** Average number of cores that everything else on the machine kept busy meanwhile. */
  otherCores: number;
}

/** Runs a program to its end. If it fails, rejects with its stderr. */
export async function runTimed(command: readonly string[]): Promise<TimedRun> {
  const busyBefore = busyCpuSeconds();
  const start = performance.now();
  // Unlike Node, `time` of bash knows the processor time of grandchildren. It writes the last line of stderr.
  const child = spawn('bash', ['-c', 'TIMEFORMAT="%U %S"; time "$@"', 'bash', ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const wallSeconds = (performance.now() - start) / 1000;
  if (code !== 0) throw new Error(`'${command.join(' ')}' ended with ${code}: ${stderr}`);
  const [user, system] = stderr.trimEnd().split('\n').at(-1)!.split(' ').map(Number);
  const cpuSeconds = user! + system!;
  return {
    stdout,
    wallSeconds,
    cpuSeconds,
    otherCores: Math.max(0, (busyCpuSeconds() - busyBefore - cpuSeconds) / wallSeconds),
  };
}

/** Processor seconds of all cores together since the machine started. */
function busyCpuSeconds(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
}
