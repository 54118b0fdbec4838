import type { ServerResponse } from 'node:http';
import { hasEnded, type JobStatus } from '@halogrid/proto';
import { type Access, httpCredentials } from '@halogrid/service';
import { noStore } from '@halogrid/service/send-json';
import type { JobCalls } from '../job-calls.ts';
import { otherRoute, type Route } from './route.ts';

/** The id of the last event. A browser that comes back with it is told that there are no more. */
const lastId = 'end';

/** An idle connection is closed after a minute, here or by something on the way. */
const keepAliveMs = 15_000;

/** Follows a job by server-sent events, as halogrid.v1.Jobs.Watch does. */
export const watchRoute = (calls: JobCalls, access: Access): Route =>
  otherRoute(
    {
      method: 'GET',
      name: 'watchJob',
      path: '/jobs/{id}/watch',
      role: 'read',
      summary: 'Follows a job: an event now, one whenever it has changed, and a last one when it has ended',
      answer: { type: 'text/event-stream', words: 'Server-sent events: the data of each is a WatchResponse' },
    },
    async ({ path, gone, request }, response) => {
      // A missing job is refused before the stream begins.
      const { messageOf, writeMessage } = await import('@halogrid/proto/json');
      const { jobId, finishedMs } = await calls.find(path.id!);
      if (finishedMs > 0 && request.headers['last-event-id'] === lastId) return void response.writeHead(204).end();
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': noStore,
        'x-content-type-options': 'nosniff',
        // A proxy would hold events back.
        'x-accel-buffering': 'no',
      });
      if (request.method === 'HEAD') return void response.end();
      // A token may expire, or be taken away, in the middle.
      const mayGoOn = (): boolean => {
        const isDenied = access.admit(httpCredentials(request), 'read').denial !== undefined;
        if (isDenied) response.destroy();
        return !isDenied;
      };
      const keepAlive = setInterval(() => {
        if (mayGoOn() && !response.writableNeedDrain) response.write(':\n\n');
      }, keepAliveMs);
      let sent = 0;
      const send = async (job: JobStatus): Promise<void> => {
        if (!mayGoOn()) return;
        const data = JSON.stringify(writeMessage(messageOf('WatchResponse'), { job }));
        await written(response, `id: ${hasEnded(job) ? lastId : ++sent}\ndata: ${data}\n\n`);
      };
      try {
        await calls.watch(jobId, send, gone);
      } finally {
        clearInterval(keepAlive);
      }
      response.end();
    },
  );

const written = (response: ServerResponse, text: string): Promise<void> =>
  new Promise((resolve) => response.write(text, () => resolve()));
