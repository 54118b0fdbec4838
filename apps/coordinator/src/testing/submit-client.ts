// For tests, in a worker thread: submits a specification to a coordinator of this process without holding it up.
import { parentPort, workerData } from 'node:worker_threads';
import { credentials } from '@grpc/grpc-js';
import { JobsClient, maxMessageBytes } from '@halogrid/proto';
import { refusalOf, submit } from './coordinator-stage.ts';

// An answer holds the specification.
const options = { 'grpc.max_receive_message_length': maxMessageBytes };
const jobs = new JobsClient(`127.0.0.1:${workerData.port}`, credentials.createInsecure(), options);
parentPort!.on('message', async (spec) => {
  const refusal = await refusalOf(submit(jobs, spec)).catch(() => undefined);
  parentPort!.postMessage(refusal?.details ?? 'accepted');
});
parentPort!.postMessage('ready');
