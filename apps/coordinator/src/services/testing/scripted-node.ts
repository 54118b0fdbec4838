// For tests: a node that sends what a test tells it over real gRPC, and keeps the orders that it gets.
import { type ClientDuplexStream, credentials, type ServiceError } from '@grpc/grpc-js';
import {
  type AttachRequest,
  type AttachResponse,
  Cause,
  Hello,
  type Lease,
  NodesClient,
  type Probe,
  protocolVersion,
  type SeenFile,
} from '@halogrid/proto';
import { resultsVersion } from '@halogrid/service';
import { within } from '@halogrid/testing';
import { ownEyes } from '../../sight/own-view.ts';

type Report = NonNullable<AttachRequest['report']>;
type Order = NonNullable<AttachResponse['order']>;
type ValueOf<K> = Extract<Order, { $case: K }>['value'];

export class ScriptedNode {
  /** Orders that came and were not taken yet. */
  readonly heard: AttachResponse[] = [];
  /** Probes are answered from this machine's files; if false, they are kept as other orders are. */
  showsWhatItSees = true;
  /** Why it says that it cannot write results; empty: it can. */
  writeError = '';
  /** How the conversation ended; undefined while it goes on. */
  ended: { code: number; details: string } | undefined;
  readonly #client: NodesClient;
  readonly #call: ClientDuplexStream<AttachRequest, AttachResponse>;
  /** Resolves when something is heard, or the conversation ends. */
  #stir = Promise.withResolvers<void>();

  constructor(grpcPort: number) {
    // Each node has a connection of its own, as real nodes do: a coordinator takes a hundred conversations from one.
    const options = { 'grpc.use_local_subchannel_pool': 1 };
    this.#client = new NodesClient(`127.0.0.1:${grpcPort}`, credentials.createInsecure(), options);
    this.#call = this.#client.attach();
    this.#call.on('data', (response: AttachResponse) => {
      if (response.order?.$case === 'probe' && this.showsWhatItSees) void this.#show(response.order.value);
      else this.heard.push(response);
      this.#stirred();
    });
    this.#call.on('end', () => {
      this.ended ??= { code: 0, details: '' };
      this.#stirred();
    });
    this.#call.on('error', ({ code, details }: ServiceError) => {
      this.ended = { code, details };
      this.#stirred();
    });
  }

  #stirred(): void {
    this.#stir.resolve();
    this.#stir = Promise.withResolvers();
  }

  /** Dials, says hello and takes the welcome. */
  static async attach(grpcPort: number, hello: Partial<Hello> = {}): Promise<ScriptedNode> {
    const node = new ScriptedNode(grpcPort);
    node.hello(hello);
    await node.next('welcome');
    return node;
  }

  hello(more: Partial<Hello> = {}): void {
    const device = { kind: 'cpu', name: 'script', driver: '' };
    const versions = { protocol: protocolVersion, resultsVersion };
    const defaults = { nodeId: 'scripted', name: 'scripted', ...versions, device, creditBytes: 2 ** 30 };
    this.say({ $case: 'hello', value: Hello.fromPartial({ ...defaults, ...more }) });
  }

  say(report: Report): void {
    this.#call.write({ report });
  }

  /** Sends a message without a report. */
  sayNothing(): void {
    this.#call.write({ report: undefined });
  }

  async #show({ probe, files, write }: Probe): Promise<void> {
    const seen = await Promise.all(
      files.map(async ({ uri, whole }): Promise<SeenFile> => {
        const view = await ownEyes.see(uri, whole);
        if (view.kind === 'not there') {
          return { version: '', sha256: Buffer.alloc(0), error: view.reason, cause: Cause.ACCESS };
        }
        return {
          version: view.file.version,
          sha256: Buffer.from(view.file.sha256),
          error: '',
          cause: Cause.UNSPECIFIED,
        };
      }),
    );
    if (!this.ended) this.say({ $case: 'sight', value: { probe, files: seen, error: write && this.writeError } });
  }

  /** Answers a lease that could not be computed. */
  fail({ jobId, shard, attempt, epoch }: Lease, error = 'The script says so'): void {
    this.say({ $case: 'failed', value: { jobId, shard, attempt, epoch, error, output: false, need: '' } });
  }

  /**
   * Waits for the next order and takes it; it must have that kind. Skips acknowledgements unless they are asked for.
   */
  async next<K extends Order['$case']>(kind: K): Promise<ValueOf<K>> {
    for (;;) {
      while (this.heard.length === 0) {
        if (this.ended) throw new Error(`Expected ${kind} but the conversation ended: ${this.ended.details}`);
        await within(`${kind} for a node`, this.#stir.promise);
      }
      const { order } = this.heard.shift()!;
      const received: string | undefined = order?.$case;
      if (received === kind) return order?.value as ValueOf<K>;
      if (received !== 'acknowledge') throw new Error(`Expected ${kind} but received ${received}`);
    }
  }

  /** Waits for the end of the conversation. */
  async over(): Promise<{ code: number; details: string }> {
    while (!this.ended) await within('the end of a conversation', this.#stir.promise);
    return this.ended;
  }

  /** Says that no report follows. */
  closeStream(): void {
    this.#call.end();
  }

  /** Ends the connection without a word, as a killed process does. */
  hangUp(): void {
    this.#call.cancel();
    this.#client.close();
  }
}
