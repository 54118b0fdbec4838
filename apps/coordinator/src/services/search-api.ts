import type { IncomingMessage, ServerResponse } from 'node:http';
import { maxImageBytes } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { Refusal } from '../job/refusal.ts';
import { picturePath } from '../retrieval/known-frame.ts';
import { isMethod, sendError, sendJson } from './http-json.ts';
import { BodyReceiver, bodyTimes } from './receive-body.ts';
import { readChanges, readListFrames, readSearch, readSide } from './search-parameters.ts';
import type { Searcher } from './searcher.ts';
import { sendPicture } from './send-picture.ts';

/** Seconds that a browser may keep a picture: its file may change, and the same page asks for it again and again. */
const pictureAge = 3600;

type Respond = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Answers /api/v1/indexes, …/indexes/frames, …/search, …/changes and …/frames with what the gRPC calls of halogrid.v1.Search answer, as
 * JSON, and pictures as PNG; returns false for other paths.
 */
export function createSearchApi(searcher: Searcher, log: Log): Respond {
  return (request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
    const answer = answerTo(path, searcher);
    if (!answer) return false;
    const methods = path === searchPath ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
    if (!isMethod(request, response, methods)) return true;
    answer(query, request, response).catch((error: unknown) => {
      // What is left of a picture that is too large is not waited for.
      if (!request.complete) response.setHeader('connection', 'close');
      sendError(response, log, error);
    });
    return true;
  };
}

const searchPath = '/api/v1/search';

type Answer = (query: string, request: IncomingMessage, response: ServerResponse) => Promise<void>;

function answerTo(path: string, searcher: Searcher): Answer | undefined {
  const json =
    (read: (query: string, request: IncomingMessage) => Promise<object>): Answer =>
    async (query, request, response) =>
      sendJson(response, 200, await read(query, request));
  switch (path) {
    case '/api/v1/indexes':
      return json(() => searcher.listIndexes());
    case '/api/v1/indexes/frames':
      return json((query) => searcher.listFrames(readListFrames(query)));
    case searchPath:
      return json(async (query, request) => {
        const image = request.method === 'POST' ? await images.receive(request) : undefined;
        return searcher.search(readSearch(query, image));
      });
    case '/api/v1/changes':
      return json((query) => searcher.changes(readChanges(query)));
    default:
      return path.startsWith(picturePath) ? pictureOf(path.slice(picturePath.length), searcher) : undefined;
  }
}

function pictureOf(place: string, searcher: Searcher): Answer {
  const [ticket = '', map, more] = place.split('/');
  return async (query, _request, response) => {
    if (more !== undefined || (map !== undefined && map !== 'map'))
      throw new Refusal('missing', 'There is no such picture');
    const order = { ticket, of: map === undefined ? ('frame' as const) : ('map' as const), side: readSide(query) };
    sendPicture(response, await searcher.picture(order), pictureAge);
  };
}

/** Images that are received at a time, each of which is in memory. */
const images = new BodyReceiver(8, { ...bodyTimes, bytes: maxImageBytes });
