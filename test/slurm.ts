import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually, freePort, pause, showOnFailure } from '@halogrid/testing';
import { processesWith } from './process-list.ts';
import { scratchFolder } from './scratch-folder.ts';

const sbin = ['/usr/sbin', '/sbin'];
/** Where the programs of Slurm and of this checkout are. */
const path = [
  fileURLToPath(new URL('../node_modules/.bin', import.meta.url)),
  process.env.PATH,
  // Debian keeps daemons out of the path of users.
  ...sbin,
].join(delimiter);

/** A job of Slurm, as `scontrol show job` tells of it. */
export interface SlurmJob {
  /** PENDING, RUNNING, COMPLETED, … */
  state: string;
  /** The machine that it runs on; empty while it waits. */
  machine: string;
  restarts: number;
}

/** A real Slurm (Debian's) on this machine, which plays two machines of four processors. */
export class Slurm {
  static readonly machines = ['m1', 'm2'] as const;
  readonly folder = scratchFolder();
  readonly #daemons = new Map<string, ChildProcess>();

  /** Starts munged, the controller and the daemons of both machines, and resolves when they accept jobs. */
  static async start(): Promise<Slurm> {
    const slurm = new Slurm();
    process.once('exit', () => slurm.stop());
    const { folder } = slurm;
    showOnFailure({ name: 'the logs of jobs', printed: () => slurm.#logs(), end: () => 0 });
    // Otherwise munged finds its socket inaccessible.
    chmodSync(folder, 0o711);
    mkdirSync(join(folder, 'state'));
    writeFileSync(join(folder, 'munge.key'), randomBytes(64), { mode: 0o600 });
    const config = await slurm.#config();
    for (const place of ['', ...Slurm.machines]) {
      mkdirSync(join(folder, place), { recursive: true });
      writeFileSync(join(folder, place, 'slurm.conf'), config);
    }
    const munge = ['key-file=munge.key', 'socket=munge.sock', 'pid-file=munged.pid', 'seed-file=munged.seed'];
    slurm.#start('munged', ['--foreground', ...munge.map((option) => `--${option.replace('=', `=${folder}/`)}`)]);
    await eventually('munged', () => slurm.#run('munge', ['--socket', join(folder, 'munge.sock'), '--no-input']), {
      despiteErrors: true,
    });
    slurm.#start('slurmctld', ['-D']);
    for (const machine of Slurm.machines) slurm.startMachine(machine);
    await eventually(
      'two idle machines',
      async () => {
        const states = await slurm.#run('sinfo', ['--noheader', '--Node', '--format=%T', '--partition=low']);
        return states.trim() === 'idle\nidle';
      },
      { despiteErrors: true },
    );
    return slurm;
  }

  /** Starts the daemon of a machine. */
  startMachine(machine: string): void {
    this.#start(`slurmd of ${machine}`, ['-D', '-N', machine], this.#configOf(machine), 'slurmd');
  }

  /**
   * Kills the daemon of a machine and all that it has started, as a failure of power does, and tells the controller, as
   * its checks would some time later.
   */
  async killMachine(machine: string): Promise<void> {
    this.#daemons.get(`slurmd of ${machine}`)!.kill('SIGKILL');
    for (const { pid } of this.#processesOf(machine)) killNow(pid);
    await this.scontrol('update', `NodeName=${machine}`, 'State=DOWN', 'Reason=lost');
  }

  /** Submits a script with its arguments, and resolves with the job's number. */
  async sbatch(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
    return (await this.#run('sbatch', ['--parsable', ...args], env)).trim();
  }

  async scontrol(...args: string[]): Promise<string> {
    return this.#run('scontrol', args);
  }

  async scancel(job: string): Promise<void> {
    await this.#run('scancel', [job]);
  }

  async job(job: string): Promise<SlurmJob> {
    const text = await this.#run('scontrol', ['--oneliner', 'show', 'job', job]);
    const field = (name: string): string => new RegExp(`(?:^| )${name}=(\\S*)`).exec(text)?.[1] ?? '';
    return { state: field('JobState'), machine: field('NodeList'), restarts: Number(field('Restarts')) };
  }

  /** Waits until the job is in that state, and has been restarted more often than `before`. */
  async until(job: string, state: string, before?: SlurmJob): Promise<void> {
    await eventually(`job ${job} of Slurm to be ${state}`, async () => {
      const found = await this.job(job);
      if (found.state === state && (!before || found.restarts > before.restarts)) return true;
      // Each look is a process.
      await pause(200);
      return false;
    });
  }

  /** Ends all of its processes. */
  stop(): void {
    for (const daemon of this.#daemons.values()) daemon.kill('SIGKILL');
    for (const place of ['', ...Slurm.machines]) {
      for (const { pid } of processesWith(`SLURM_CONF=${this.#configOf(place)}`)) killNow(pid);
    }
  }

  /** What runs on a machine: the steps' daemons, which have its configuration, and their programs. */
  #processesOf(machine: string): { pid: number }[] {
    const steps = processesWith(`SLURM_CONF=${this.#configOf(machine)}`);
    const ours = new Set(processesWith(`SLURM_CONF=${this.#configOf('')}`).map(({ pid }) => pid));
    return [...steps, ...processesWith(`SLURMD_NODENAME=${machine}`).filter(({ pid }) => ours.has(pid))];
  }

  #logs(): string {
    const logs = globSync(join(this.folder, '*.log'));
    return logs.map((log) => `${log}:\n${readFileSync(log, 'utf8')}`).join('\n');
  }

  #configOf(machine: string): string {
    return join(this.folder, machine, 'slurm.conf');
  }

  #start(name: string, args: string[], config = this.#configOf(''), program = name): void {
    const daemon = spawn(program, args, {
      env: { ...process.env, PATH: path, SLURM_CONF: config },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [daemon.stdout, daemon.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
    }
    daemon.on('error', (error) => {
      printed += error;
    });
    this.#daemons.set(name, daemon);
    showOnFailure({ name, printed: () => printed, end: () => daemon.exitCode ?? daemon.signalCode ?? undefined });
  }

  async #run(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
    const { stdout } = await promisify(execFile)(program, args, {
      cwd: this.folder,
      env: { ...process.env, ...env, PATH: path, SLURM_CONF: this.#configOf('') },
    });
    return stdout;
  }

  async #config(): Promise<string> {
    const { folder } = this;
    const user = userInfo().username;
    const host = hostname().split('.')[0];
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    return `ClusterName=test
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${ports[0]}
AuthType=auth/munge
# A requeued job waits until its credential has expired, by default for two minutes.
AuthInfo=socket=${folder}/munge.sock,cred_expire=5
SlurmUser=${user}
SlurmdUser=${user}
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool-%n
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd-%n.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1,batch_sched_delay=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdTimeout=4
KillWait=30
NodeName=${Slurm.machines.join()} NodeAddr=127.0.0.1 NodeHostname=${host} Port=${ports[1]},${ports[2]} CPUs=4 State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=30
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
`;
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
