import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { within } from '@halogrid/testing';

const run = (...[program, ...words]: string[]): void =>
  void execFileSync(program!, words, { stdio: ['ignore', 'ignore', 'pipe'] });

/** Why there can be no machines here; false if there can. */
export const skipNamespaces: string | false = canMake() ? false : 'needs root, who may make network namespaces';

function canMake(): boolean {
  try {
    run('unshare', '--net', '--mount', 'ip', 'link', 'add', 'type', 'bridge');
    return true;
  } catch {
    return false;
  }
}

interface MachineOptions {
  name: string;
  address: string;
  /** The end of its cable that is in the switch. */
  link: string;
  namespace: string;
}

/** A machine of its own as far as its programs can see: an address, and folders that no other machine sees. */
export class Machine {
  readonly name: string;
  readonly address: string;
  readonly #link: string;
  readonly #namespace: string;
  readonly #init: ChildProcess;

  constructor({ name, address, link, namespace }: MachineOptions) {
    this.name = name;
    this.address = address;
    this.#link = link;
    this.#namespace = namespace;
    // It keeps the machine's folders while its programs are started again.
    const boot = 'mount -t tmpfs tmpfs /tmp && mkdir /tmp/empty && echo && exec sleep infinity';
    const words = ['netns', 'exec', namespace, 'unshare', '--mount', '--propagation=private', 'sh', '-c', boot];
    this.#init = spawn('ip', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  }

  async started(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#init.stdout!.once('data', () => resolve());
    this.#init.once('exit', (code) => reject(new Error(`The machine ${this.name} ended with ${code}`)));
    await within(`the machine ${this.name}`, promise);
    // It does not keep this process.
    this.#init.stdout!.destroy();
    this.#init.unref();
  }

  /** A command that runs others on this machine; what it starts has its process id. */
  get within(): readonly string[] {
    const pid = String(this.#init.pid);
    const folders = ['HOME=/tmp', 'TMPDIR=/tmp', 'XDG_DATA_HOME=/tmp/data', 'XDG_CONFIG_HOME=/tmp/config'];
    return ['nsenter', '--target', pid, '--net', '--mount', 'env', ...folders];
  }

  /** The same with the network of this machine, but the folders of this process. */
  get withinNetwork(): readonly string[] {
    return ['nsenter', `--net=/run/netns/${this.#namespace}`];
  }

  /** Where this process sees a path of the machine. */
  pathOf(path: string): string {
    return `/proc/${this.#init.pid}/root${path}`;
  }

  /** Pulls its cable. */
  cut(): void {
    run('ip', 'link', 'set', this.#link, 'down');
  }

  mend(): void {
    run('ip', 'link', 'set', this.#link, 'up');
  }

  remove(): void {
    this.#init.kill('SIGKILL');
    run('ip', 'netns', 'delete', this.#namespace);
  }
}

/** Machines on a switch, which this process reaches as well. They are gone when the process ends. */
export class Network {
  readonly #id = process.pid.toString(36);
  readonly #switch = `hg-${this.#id}`;
  /** A net of 10.192.0.0/10 for each process. */
  readonly #net = `10.${192 + ((process.pid >> 8) & 63)}.${process.pid & 255}`;
  readonly #machines: Machine[] = [];

  constructor() {
    process.once('exit', () => this.#remove());
    // Otherwise the process would end without this.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
    run('ip', 'link', 'add', this.#switch, 'type', 'bridge');
    run('ip', 'address', 'add', `${this.#net}.1/24`, 'dev', this.#switch);
    run('ip', 'link', 'set', this.#switch, 'up');
  }

  async add(name: string): Promise<Machine> {
    const number = this.#machines.length + 2;
    const [namespace, link] = [`${this.#switch}-${number}`, `hg${number}-${this.#id}`];
    const address = `${this.#net}.${number}`;
    const inside = (...words: string[]) => run('ip', '-n', namespace, ...words);
    run('ip', 'netns', 'add', namespace);
    run('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    run('ip', 'link', 'set', link, 'master', this.#switch, 'up');
    inside('address', 'add', `${address}/24`, 'dev', 'eth0');
    for (const device of ['eth0', 'lo']) inside('link', 'set', device, 'up');
    const machine = new Machine({ name, address, link, namespace });
    this.#machines.push(machine);
    await machine.started();
    return machine;
  }

  #remove(): void {
    for (const remove of [...this.#machines.map((machine) => () => machine.remove()), () => this.#removeSwitch()]) {
      try {
        remove();
      } catch (error) {
        // The others go nevertheless.
        console.error(error);
      }
    }
  }

  #removeSwitch(): void {
    run('ip', 'link', 'delete', this.#switch);
  }
}
