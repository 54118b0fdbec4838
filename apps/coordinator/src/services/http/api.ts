import type { IncomingMessage, ServerResponse } from 'node:http';
import { fieldSentence } from '@halogrid/jobs/field-sentence';
import { Refusal } from '@halogrid/jobs/refusal';
import { shortened } from '@halogrid/kernels';
import { maxImageBytes } from '@halogrid/proto';
import { errorAnswer } from '@halogrid/proto/error-answer';
import { jsonName } from '@halogrid/proto/json-name';
import { type Access, httpCredentials, type Log } from '@halogrid/service';
import { sendJson } from '@halogrid/service/send-json';
import type { AskingCaller, Audit, RefusedCaller } from '../audit.ts';
import { checkChange } from './check-change.ts';
import { findRoutes } from './find-routes.ts';
import { BodyReceiver, bodyTimes } from './receive-body.ts';
import type { MessageName, Route, RouteCall } from './route.ts';
import { goneSignal, sendError, sendMethods } from './send.ts';

export const apiRoot = '/api/v1';

/**
 * Loaded by the first request: loading takes 10 ms of a core (measured), and a coordinator that is started for one job
 * seldom gets a request.
 */
const loadJson = () => import('@halogrid/proto/json');

export interface ApiOptions {
  routes: readonly Route[];
  /** Checks who may change something; the server has checked already who may read. */
  access: Access;
  /** Origins of other sites whose pages may change something. */
  allowedOrigins: readonly string[];
  /** Notes changes that are refused here. */
  audit: Pick<Audit, 'refused'>;
  log: Log;
}

/** Answers the paths of the routes; returns false for others. */
export function createApi({
  routes,
  access,
  allowedOrigins,
  audit,
  log,
}: ApiOptions): (request: IncomingMessage, response: ServerResponse) => boolean {
  const find = findRoutes(routes, apiRoot);
  return (request, response) => {
    const [path = '', text = ''] = (request.url ?? '').split(/\?(.*)/s);
    const found = find(path);
    if (!found) return false;
    const { byMethod } = found;
    const route = byMethod.get(request.method === 'HEAD' ? 'GET' : (request.method ?? ''));
    if (!route) {
      const methods = ['GET', 'POST'].filter((method) => byMethod.has(method));
      sendMethods(
        request,
        response,
        methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
      );
      return true;
    }
    const answer = async (): Promise<void> => {
      const caller = callerOf(route, found.path.id, request, { access, allowedOrigins, audit });
      const { messageOf, writeMessage } = await loadJson();
      const query = route.query ? await readParameters(route.query, text) : undefined;
      const body = await readBody(route, request);
      const call = { path: found.path, query, body, caller, gone: goneSignal(response), request } as RouteCall<
        never,
        never
      >;
      if (route.send) return route.send(call, response);
      const given = await route.respond!(call);
      const written = typeof route.answer === 'string' ? writeMessage(messageOf(route.answer), given) : given;
      return sendJson(request, response, 200, written);
    };
    answer().catch((error: unknown) => {
      // The rest of a refused body is not waited for.
      if (!request.complete && !response.headersSent) response.setHeader('connection', 'close');
      sendError(request, response, log, error, (field) =>
        error instanceof FieldRefusal ? field : nameIn(route, field),
      );
    });
    return true;
  };
}

/** Who makes the request. Throws Refusal if the caller may not, and has that noted if it asks for a change. */
function callerOf(
  { method, path, role }: Route,
  jobId: string | undefined,
  request: IncomingMessage,
  { access, allowedOrigins, audit }: Pick<ApiOptions, 'access' | 'allowedOrigins' | 'audit'>,
): AskingCaller {
  const credentials = httpCredentials(request);
  const { from } = credentials;
  const { caller, denial } = access.admit(credentials, role);
  const isChange = role === 'submit' && method === 'POST';
  try {
    if (isChange) checkChange(request.headers, allowedOrigins);
    if (!denial) return { ...caller, from };
    throw new Refusal('forbidden', denial.sentence);
  } catch (error) {
    const name = caller?.name ?? denial?.name ?? '';
    const { message: sentence } = error as Error;
    if (isChange) audit.refused({ action: actionOf(path), jobId }, { from }, { name, sentence });
    throw error;
  }
}

/** What a change does: `submit` for /jobs, `cancel` for /jobs/ID/cancel. */
const actionOf = (path: string): string => (path === '/jobs' ? 'submit' : path.slice(path.lastIndexOf('/') + 1));

/** Has changes noted that the server refused because it does not know the caller. */
export const refusedByServer =
  (audit: Pick<Audit, 'refused'>) =>
  ({ method, url = '', socket, headers }: IncomingMessage, denial: RefusedCaller): void => {
    const [, path, jobId] = /^\/api\/v1(\/(?:jobs\/([^/?]+)\/)?[^/?]+)\/?(?:\?|$)/.exec(url) ?? [];
    if (method !== 'POST' || path === undefined) return;
    audit.refused({ action: actionOf(path), jobId }, httpCredentials({ headers, socket }), denial);
  };

/** Receives up to 8 images at a time, each in memory. */
const images = new BodyReceiver(8, { ...bodyTimes, bytes: maxImageBytes });

async function readBody({ body }: Route, request: IncomingMessage): Promise<unknown> {
  if (body === 'image') return images.receive(request);
  if (body === undefined) return void request.resume();
  const json = await readJsonBody(request);
  return inFields(({ messageOf, readMessage }) => readMessage(messageOf(body), json));
}

/** A form has hundreds of sources at most; a list of more is a manifest. */
const forms = new BodyReceiver(32, { ...bodyTimes, bytes: 2 ** 20 });

/** The JSON in the body of a request. Rejects with Refusal if it is not JSON, or too long. */
async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const body = await forms.receive(request);
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    const why = body.length === 0 ? 'nothing' : `something else: ${(error as Error).message}`;
    throw new Refusal('invalid', `Expected JSON for the body but received ${why}`);
  }
}

/** A refusal that already names the field as the request does. */
class FieldRefusal extends Refusal {}

const readParameters = (query: MessageName, text: string): Promise<unknown> =>
  inFields(({ messageOf, readQuery }) => readQuery(messageOf(query), new URLSearchParams(text)));

async function inFields(read: (json: Awaited<ReturnType<typeof loadJson>>) => unknown): Promise<unknown> {
  const json = await loadJson();
  try {
    return read(json);
  } catch (error) {
    if (!(error instanceof json.FieldError)) throw error;
    throw new FieldRefusal('invalid', fieldSentence(error), shortened(error.field));
  }
}

/**
 * The name in a request of a field of the .proto files: of a part of the path, a parameter of the query, or a field of
 * the JSON body.
 */
function nameIn({ path, body }: Route, field: string): string {
  if (field === 'job_id' && path.includes('{id}')) return 'id';
  if (body === undefined || body === 'image') return field;
  return jsonName(field);
}

/** Answers the same paths on a coordinator that does not lead: with 503 and the reason. */
export function answerStandby(request: IncomingMessage, response: ServerResponse, why: string): boolean {
  if (!(request.url ?? '').startsWith('/api/')) return false;
  void sendJson(request, response, 503, errorAnswer('UNAVAILABLE', why));
  return true;
}
