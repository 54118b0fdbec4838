// A coordinator for tests: real gRPC on loopback. The test decides what it says.
import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import {
  type AttachRequest,
  type AttachResponse,
  type Hello,
  type Lease,
  type LeaseName,
  NodesService,
} from '@halogrid/proto';
import { eventually } from '@halogrid/testing';

type Report = NonNullable<AttachRequest['report']>;
type ReportValues = { [Each in Report as Each['$case']]: Each['value'] };
type Order = NonNullable<AttachResponse['order']>;

/** One conversation with a node, seen from the coordinator. */
export class FakeSession {
  readonly reports: Report[] = [];
  /** Whether reports are answered. */
  answers = true;
  isClosedByNode = false;
  readonly #call: ServerDuplexStream<AttachRequest, AttachResponse>;
  readonly #reportWithinMs: number;

  constructor(call: ServerDuplexStream<AttachRequest, AttachResponse>, reportWithinMs: number) {
    this.#call = call;
    this.#reportWithinMs = reportWithinMs;
    call.on('data', ({ report }: AttachRequest) => {
      this.reports.push(report!);
      if (this.answers && report!.$case === 'draining') this.send({ $case: 'drain', value: {} });
      else if (this.answers && report!.$case !== 'hello') this.send({ $case: 'acknowledge', value: {} });
    });
    call.on('end', () => {
      this.isClosedByNode = true;
      call.end();
    });
    call.on('error', () => {});
  }

  send(order: Order): void {
    this.#call.write({ reportWithinMs: this.#reportWithinMs, order });
  }

  lease(lease: Lease): void {
    this.send({ $case: 'lease', value: lease });
  }

  /** Ends the conversation as a coordinator that shuts down does. */
  end(): void {
    this.#call.end();
  }

  refuse(details: string): void {
    this.#call.emit('error', { code: status.FAILED_PRECONDITION, details });
  }

  /** Waits for a report of kind `kind`. */
  async report<Kind extends keyof ReportValues>(kind: Kind): Promise<ReportValues[Kind]> {
    const found = await eventually(`the report '${kind}'`, () => this.reports.find((report) => report.$case === kind));
    return found.value as ReportValues[Kind];
  }

  /** Waits for the next report of kind `kind`, and removes it from `reports`. */
  async next<Kind extends keyof ReportValues>(kind: Kind): Promise<ReportValues[Kind]> {
    const value = await this.report(kind);
    this.reports.splice(
      this.reports.findIndex((report) => report.value === value),
      1,
    );
    return value;
  }

  /** Waits until the node has said that no report follows. */
  async closedByNode(): Promise<void> {
    await eventually('the node to close the conversation', () => this.isClosedByNode);
  }
}

export class FakeCoordinator {
  readonly sessions: FakeSession[] = [];
  port = 0;
  /** Whether shards that a node brings along go on, under epoch 8. The welcome then waits for hello. */
  keeps = false;
  /** Other coordinators of its ledger have other epochs. */
  epoch = 7;
  /** Whether hello is answered with a welcome. */
  welcomes: boolean;
  readonly #reportWithinMs: number;
  readonly #server = new Server();

  /** Nodes must report within `reportWithinMs`. */
  constructor(reportWithinMs = 60_000, welcomes = true) {
    this.#reportWithinMs = reportWithinMs;
    this.welcomes = welcomes;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  async start(port = 0): Promise<void> {
    this.#server.addService(NodesService, {
      attach: (call: ServerDuplexStream<AttachRequest, AttachResponse>) => {
        const session = new FakeSession(call, this.#reportWithinMs);
        this.sessions.push(session);
        const welcome = (held: LeaseName[]): void => {
          const kept = held.map((lease) => ({ ...lease, epoch: 8 }));
          session.send({ $case: 'welcome', value: { epoch: this.epoch, httpPort: 0, kept, protocol: 0 } });
        };
        if (this.keeps) call.once('data', ({ report }: AttachRequest) => welcome((report!.value as Hello).held));
        else if (this.welcomes) welcome([]);
      },
    });
    this.port = await new Promise((resolve, reject) => {
      this.#server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
        if (error) reject(error);
        else resolve(bound);
      });
    });
  }

  /** Waits for the n-th conversation, counted from 1. */
  async session(n: number): Promise<FakeSession> {
    return eventually(`conversation ${n} with a node`, () => this.sessions[n - 1]);
  }

  close(): void {
    this.#server.forceShutdown();
  }
}
