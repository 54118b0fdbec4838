import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refusal } from '@halogrid/jobs/refusal';
import type { PartFound } from '@halogrid/proto';
import { type SourceAccess, sourceAccess } from '@halogrid/sources';
import { limitConcurrency } from '@halogrid/threads';
import type {
  Order,
  OrderKind,
  Orders,
  PartQuestion,
  PartReply,
  RetrievalAnswer,
  SearchNode,
  Setup,
} from './orders.ts';

const program = fileURLToPath(new URL('./retrieval-process.ts', import.meta.url));

export interface RetrievalLimits {
  /** The most searches, lists and changes that run or wait. They run one after another, each on all cores. */
  searches: number;
  /** The most pictures and other quick orders that run or wait. Two run at a time. */
  pictures: number;
  /** The process is ended if an order takes longer: HTTP closes connections on which nothing moves for 60 s. */
  orderMs: number;
  /** The process ends after this time without an order, and frees the memory of its indexes. */
  idleMs: number;
}

export const retrievalLimits: RetrievalLimits = { searches: 8, pictures: 200, orderMs: 50_000, idleMs: 120_000 };

/** The nodes that can look through parts of indexes. */
export interface SearchNodes {
  /** The nodes that are attached now. */
  searchNodes(): SearchNode[];
  /** Resolves with the answer of the node; rejects with one sentence if the node is gone. */
  searchPart(session: number, part: PartQuestion['order']): Promise<PartFound>;
}

const noNodes: SearchNodes = { searchNodes: () => [], searchPart: () => Promise.reject(new Error('There is no node')) };

interface Waiting {
  resolve(answer: Orders[OrderKind]['answer']): void;
  reject(error: Error): void;
}

/**
 * Carries out orders in a separate process, which the first order starts. In the coordinator's own process, a search
 * would hold up everything else, and decoding a file that anybody may have made could end the coordinator.
 */
export class Retrieval {
  readonly #limits: RetrievalLimits;
  readonly #access: SourceAccess;
  readonly #nodes: SearchNodes;
  readonly #secret = randomBytes(32);
  readonly #lanes = {
    search: { run: limitConcurrency(1), waiting: 0 },
    picture: { run: limitConcurrency(2), waiting: 0 },
  };
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 0;

  /** `access` says which sources may be read; unless given, the same ones as in this process. */
  constructor(limits: RetrievalLimits = retrievalLimits, nodes: SearchNodes = noNodes, access = sourceAccess()) {
    this.#limits = limits;
    this.#nodes = nodes;
    this.#access = access;
  }

  /** The nodes that may be given parts of a search. */
  searchNodes(): SearchNode[] {
    return this.#nodes.searchNodes();
  }

  /**
   * Rejects with Refusal: 'exhausted' if too many orders wait or the order takes too long, else what is wrong with it.
   */
  async ask<Kind extends OrderKind>(kind: Kind, order: Orders[Kind]['order']): Promise<Orders[Kind]['answer']> {
    const isPicture = quickKinds.has(kind);
    const lane = isPicture ? this.#lanes.picture : this.#lanes.search;
    const most = isPicture ? this.#limits.pictures : this.#limits.searches;
    if (lane.waiting >= most) {
      const what = isPicture ? 'pictures' : 'searches';
      throw new Refusal('exhausted', `${most} ${what} run or wait here already: ask again in a moment`);
    }
    lane.waiting++;
    try {
      return await lane.run(() => this.#send(kind, order));
    } finally {
      lane.waiting--;
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const child = this.#child;
    if (!child) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    if (child.connected) child.disconnect();
    await ended;
  }

  async #send<Kind extends OrderKind>(kind: Kind, order: Orders[Kind]['order']): Promise<Orders[Kind]['answer']> {
    clearTimeout(this.#idle);
    this.#child ??= this.#start();
    const child = this.#child;
    const id = this.#nextId++;
    const timer = setTimeout(() => {
      const sentence = `It took more than ${this.#limits.orderMs / 1000} s and was ended: the halogrid command has no such limit`;
      this.#waiting.get(id)?.reject(new Refusal('exhausted', sentence));
      this.#forget(child, 'another order took too long');
      child.kill('SIGKILL');
    }, this.#limits.orderMs);
    try {
      return (await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        child.send({ id, kind, order } as Order);
      })) as Orders[Kind]['answer'];
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#endWhenIdle();
    }
  }

  #endWhenIdle(): void {
    const child = this.#child;
    if (!child) return;
    this.#idle = setTimeout(() => {
      this.#forget(child, 'it has nothing to do');
      child.disconnect();
    }, this.#limits.idleMs);
    this.#idle.unref();
  }

  #start(): ChildProcess {
    const folder = makeFolder();
    const child = fork(program, { serialization: 'advanced', env: environment() });
    child.on('error', ({ message }) => this.#forget(child, message));
    if (child.pid === undefined) {
      // The folder is empty. A recursive removal would have to open it, and no file can be opened.
      rmdirSync(folder);
      throw cannotStart('too many files are open, or no memory is left');
    }
    child.send({ access: this.#access, secret: this.#secret, folder } satisfies Setup);
    child.on('message', (message: RetrievalAnswer | PartQuestion) => {
      if ('part' in message) return void this.#askNode(child, message);
      const waiting = this.#waiting.get(message.id);
      if ('answer' in message) waiting?.resolve(message.answer);
      else
        waiting?.reject(
          message.kind ? new Refusal(message.kind, message.sentence, message.field) : new Error(message.sentence),
        );
    });
    child.on('disconnect', () => this.#forget(child, 'it was disconnected'));
    child.on('exit', (code, signal) => {
      rmSync(folder, { recursive: true, force: true });
      this.#forget(child, signal ?? `exit code ${code}`);
    });
    return child;
  }

  async #askNode(child: ChildProcess, { part, session, order }: PartQuestion): Promise<void> {
    const reply: PartReply = await this.#nodes.searchPart(session, order).then(
      (found) => ({ part, found }),
      (error: Error) => ({ part, why: error.message }),
    );
    if (child.connected) child.send(reply);
  }

  /** The process is gone, or soon will be: its orders fail, and the next order starts another process. */
  #forget(child: ChildProcess, why: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    for (const { reject } of this.#waiting.values()) reject(new Error(`The process that searches ended: ${why}`));
  }
}

const cannotStart = (why: string): Refusal =>
  new Refusal('exhausted', `The process that searches cannot be started: ${why}`);

/** Makes a folder that only the process uses. */
function makeFolder(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), 'halogrid-retrieval-')));
  } catch (error) {
    throw cannotStart((error as Error).message);
  }
}

/** Orders that are answered quickly, so they do not wait for searches. */
const quickKinds: ReadonlySet<OrderKind> = new Set(['picture', 'region', 'readsParts', 'histograms']);

/**
 * The environment without secrets, because the process decodes files that anybody may have made; but with the keys of
 * buckets, which it reads.
 */
function environment(): NodeJS.ProcessEnv {
  const isSecret = (name: string) => /^PG|TOKEN|LEDGER|PASSWORD/i.test(name) && !name.startsWith('AWS_');
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSecret(name)));
}
