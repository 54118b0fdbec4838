import { picturePath } from '@halogrid/retrieval';
import type { Searcher } from '../searcher.ts';
import { apiRoot } from './api.ts';
import { otherRoute, type Route, route } from './route.ts';
import { readSearch, readSide } from './search-parameters.ts';
import { pictureAnswer, sendPicture } from './send-picture.ts';

/** Seconds that a browser may keep a picture: its file may change, and the same page asks for it again and again. */
const pictureAge = 3600;

/** The calls of halogrid.v1.Search, and pictures of the frames that they find. */
export function searchRoutes(searcher: Searcher): Route[] {
  const read = { method: 'GET', role: 'read' } as const;
  const search = { path: '/search', query: 'SearchQuery', answer: 'SearchResponse' } as const;
  const picture = (of: 'frame' | 'map', name: string, path: string, summary: string): Route =>
    otherRoute(
      { ...read, name, path, summary, query: 'PictureQuery', answer: pictureAnswer },
      async ({ path, query }, response) => {
        const order = { ticket: path.ticket!, of, side: readSide(query.side) };
        sendPicture(response, await searcher.picture(order), pictureAge);
      },
    );
  const frames = picturePath.slice(apiRoot.length);
  return [
    route(
      {
        ...read,
        name: 'listIndexes',
        path: '/indexes',
        summary: 'The indexes that have a name here',
        answer: 'ListIndexesResponse',
      },
      () => searcher.listIndexes(),
    ),
    route(
      {
        ...read,
        name: 'listFrames',
        path: '/indexes/frames',
        summary: 'Frames of an index by their place in it',
        query: 'ListFramesRequest',
        answer: 'ListFramesResponse',
      },
      ({ query }) => searcher.listFrames(query),
    ),
    route(
      { ...read, ...search, name: 'search', summary: 'The frames of an index that are most like one of a source' },
      ({ query }) => searcher.search(readSearch(query)),
    ),
    route(
      {
        ...search,
        name: 'searchByImage',
        method: 'POST',
        role: 'read',
        summary: 'The frames of an index that are most like an image',
        body: 'image',
      },
      ({ query, body }) => searcher.search(readSearch(query, body)),
    ),
    route(
      {
        ...read,
        name: 'listChanges',
        path: '/changes',
        summary: 'What changed in each camera of a job',
        query: 'ChangesRequest',
        answer: 'ChangesResponse',
      },
      ({ query }) => searcher.changes(query),
    ),
    picture('frame', 'getFramePicture', `${frames}{ticket}`, 'The picture of a frame that was found'),
    picture('map', 'getFrameMap', `${frames}{ticket}/map`, 'The map of a frame that was found'),
  ];
}
