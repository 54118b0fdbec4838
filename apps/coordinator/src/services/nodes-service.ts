import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import { Refusal } from '@halogrid/jobs/refusal';
import { type AttachRequest, type AttachResponse, type NodesServer, sinceProtocol } from '@halogrid/proto';
import { Budget } from '@halogrid/threads';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { NodeConnection, NodeReport } from '../dispatch/node-session.ts';
import { toLeaseId, toShardAnswer } from './answer-message.ts';
import { AnswerParts, maxPartsBytes } from './answer-parts.ts';
import { checkReportBounds } from './check-bounds.ts';
import { checkHello } from './check-hello.ts';
import { toGrpcStatus } from './grpc-status.ts';
import type { HandOver } from './hand-over.ts';
import { toLease } from './lease-message.ts';
import { listNodes } from './list-nodes.ts';
import { reachableUrl } from './metrics-targets.ts';

type AttachCall = ServerDuplexStream<AttachRequest, AttachResponse>;

/** How nodes reach files that their host does not have. */
export interface HandOverOptions {
  handOver: HandOver;
  httpPort: number;
}

/** halogrid.v1.Nodes; nodes.proto says what each call means. */
export function createNodesService(
  dispatcher: Dispatcher,
  reportWithinMs: number,
  files: HandOverOptions,
): NodesServer {
  const partsMemory = new Budget(maxPartsBytes);
  return {
    attach: (call) => converse(call, dispatcher, reportWithinMs, files, partsMemory),
    list: (_call, callback) => callback(null, listNodes(dispatcher.view)),
  };
}

/**
 * One conversation: hello is answered with welcome, and every later report with at least one order. If a node does not
 * read, the orders on their way to it are bounded by the leases that it may hold: mere acknowledgements are left out,
 * and its reports are not read before it takes what was sent (see paceCalls). A node that takes orders slowly counts as
 * heard whenever it takes one.
 */
function converse(
  call: AttachCall,
  dispatcher: Dispatcher,
  reportWithinMs: number,
  { handOver, httpPort }: HandOverOptions,
  partsMemory: Budget,
): void {
  const files = handOver.openSession();
  let isRemote = false;
  let session: number | undefined;
  let protocol = 0;
  let isOver = false;
  let ordersSent = 0;

  const send = (order: NonNullable<AttachResponse['order']>): void => {
    // Orders after the end of the conversation are left out: the node would hear of the end only after them.
    if (isOver) return;
    ordersSent++;
    call.write({ reportWithinMs, order }, taken);
  };
  const taken = (): void => {
    if (!isOver && session !== undefined && call.writableLength > 0)
      dispatcher.nodes.report(session, { kind: 'NodeReported' });
  };
  const connection: NodeConnection = {
    welcome: (leases) => {
      const kept = [...leases];
      send({ $case: 'welcome', value: { epoch: dispatcher.epoch, httpPort, kept, protocol } });
    },
    lease: (order) => {
      const lease = toLease(order);
      const { objects } = order.job;
      send({ $case: 'lease', value: isRemote || objects ? files.grant(lease, objects) : lease });
    },
    bring: (jobId, epoch) => send({ $case: 'bring', value: { jobId, epoch } }),
    kept: (jobId, leases) => send({ $case: 'kept', value: { jobId, kept: [...leases] } }),
    recall: (jobId, shards) => {
      files.recall(jobId, shards);
      send({ $case: 'recall', value: { jobId, shards } });
    },
    probe: (probe) => send({ $case: 'probe', value: probe }),
    creditTaken: (bytes) => send({ $case: 'creditTaken', value: { bytes } }),
    search: (part) => send({ $case: 'search', value: part }),
    whyUnheard: () =>
      call.writableLength > 0
        ? `The node took nothing of what it was told for more than ${reportWithinMs} ms`
        : undefined,
    drop: (details, isFinal) => end({ code: isFinal ? status.FAILED_PRECONDITION : status.UNAVAILABLE, details }),
  };

  const parts = new AnswerParts(partsMemory, reportWithinMs, {
    wait: () => call.pause(),
    goOn: () => call.resume(),
    stillWaiting: () => {
      dispatcher.nodes.report(session!, { kind: 'NodeReported' });
      if (!call.writableNeedDrain) send({ $case: 'acknowledge', value: {} });
    },
  });

  function end(error?: { code: status; details: string }): void {
    if (isOver) return;
    isOver = true;
    files.close();
    parts.drop();
    clearTimeout(helloTimer);
    if (error) call.emit('error', error);
    else call.end();
  }

  function leave(error?: { code: status; details: string }): void {
    if (session !== undefined) dispatcher.nodes.detach(session);
    end(error);
  }

  function hear(request: AttachRequest): void {
    if (session === undefined) {
      const { hello, spoken } = checkHello(request.report);
      protocol = spoken;
      clearTimeout(helloTimer);
      isRemote = hello.remoteStorage;
      const metricsUrl = reachableUrl(hello.metricsUrl, call.getPeer());
      session = dispatcher.nodes.attach({ ...hello, metricsUrl }, connection);
      return;
    }
    const { report } = checkReportBounds(request);
    if (report?.$case === 'inPart' && protocol < sinceProtocol.inPart) {
      throw new Refusal('invalid', `Expected a report of protocol ${protocol} but received one of a later protocol`);
    }
    if (report?.$case === 'completed' || report?.$case === 'failed' || report?.$case === 'returned') {
      files.release(toLeaseId(report.value));
    }
    const before = ordersSent;
    dispatcher.nodes.report(session, toNodeReport(report, parts));
    if (isOver || call.writableNeedDrain) return;
    if (report?.$case === 'draining') send({ $case: 'drain', value: {} });
    if (ordersSent === before) send({ $case: 'acknowledge', value: {} });
  }

  const helloTimer = setTimeout(() => {
    end(toGrpcStatus(new Refusal('invalid', `Expected hello within ${reportWithinMs} ms but received nothing`)));
  }, reportWithinMs);
  call.on('data', (request: AttachRequest) => {
    if (isOver) return;
    try {
      hear(request);
    } catch (error) {
      leave(toGrpcStatus(error));
    }
  });
  // A connection that breaks looks like a node that says goodbye ('end'), and is reported as cancelled only later.
  call.on('end', () => leave());
  call.on('cancelled', () => leave());
  call.on('error', () => leave());
}

function toNodeReport(report: AttachRequest['report'], parts: AnswerParts): NodeReport {
  switch (report?.$case) {
    case 'heartbeat':
      return { kind: 'NodeReported' };
    case 'credit':
      return { kind: 'NodeCredited', creditBytes: report.value.bytes };
    case 'brought': {
      const { jobId, held: brought, creditBytes } = report.value;
      return { kind: 'NodeBrought', jobId, brought, creditBytes };
    }
    case 'load':
      return { kind: 'NodeLoaded', load: report.value };
    case 'draining':
      return { kind: 'NodeDraining' };
    case 'sight':
      return { kind: 'NodeLooked', sight: report.value };
    case 'found':
      return { kind: 'NodeSearched', found: report.value };
    case 'part':
      parts.add(report.value);
      return { kind: 'NodeReported' };
    case 'inPart':
      return { kind: 'ShardInPart', lease: toLeaseId(report.value) };
    case 'completed': {
      const answer = toShardAnswer(report.value, parts.take(report.value));
      return { kind: 'ShardCompleted', lease: toLeaseId(report.value), answer };
    }
    case 'failed': {
      const { error, output: isOutput, device: isDevice, need } = report.value;
      return { kind: 'ShardFailed', lease: toLeaseId(report.value), failure: { error, isOutput, isDevice, need } };
    }
    case 'returned':
      return { kind: 'ShardReturned', lease: toLeaseId(report.value) };
    case 'hello':
      throw new Refusal('invalid', 'Expected hello as the first report only but received it again');
    case undefined:
      throw new Refusal('invalid', 'Expected a report but received an empty message');
  }
}
