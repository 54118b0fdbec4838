import type { ChangesRequest, ListFramesRequest, PixelRegion, SearchRequest } from '@halogrid/proto';
import { Refusal, refuseValue } from '../job/refusal.ts';

/** The parameters of a request's query, each of which may be given once. */
class Parameters {
  readonly #given: URLSearchParams;

  /** Throws Refusal for one that is not known here, or is there twice. */
  constructor(query: string, known: readonly string[]) {
    this.#given = new URLSearchParams(query);
    const names = [...this.#given.keys()];
    for (const name of names) {
      if (!known.includes(name)) refuseValue('a parameter', name, `one of ${known.join(', ')}`);
      if (names.filter((other) => other === name).length > 1) refuseValue(name, 'several', 'one value');
    }
  }

  has(name: string): boolean {
    return this.#given.has(name);
  }

  text(name: string): string {
    return this.#given.get(name) ?? '';
  }

  /** 0 where it is not given. */
  number(name: string): number {
    const text = this.text(name);
    if (!/^\d{0,15}$/.test(text)) refuseValue(name, text, 'a whole number');
    return Number(text);
  }

  maybe(name: string): number | undefined {
    return this.has(name) ? this.number(name) : undefined;
  }

  flag(name: string): boolean {
    const text = this.text(name);
    if (!['', 'true', 'false'].includes(text)) refuseValue(name, text, 'true or false');
    return text === 'true';
  }
}

const searchNames = [
  ...['index', 'row', 'uri', 'frame', 'region', 'distance', 'top', 'cells', 'since_ms', 'until_ms', 'camera'],
  ...['per_source', 'group'],
];

/** The search that a query asks for; `image` is what came with it. Throws Refusal. */
export function readSearch(query: string, image: Uint8Array | undefined): SearchRequest {
  const given = new Parameters(query, searchNames);
  return {
    index: given.text('index'),
    query: queryOf(given, image),
    region: regionOf(given.text('region')),
    distance: given.text('distance'),
    top: given.number('top'),
    cells: given.flag('cells'),
    sinceMs: given.maybe('since_ms'),
    untilMs: given.maybe('until_ms'),
    camera: given.text('camera'),
    perSource: given.number('per_source'),
    group: given.number('group'),
  };
}

function queryOf(given: Parameters, image: Uint8Array | undefined): SearchRequest['query'] {
  const kinds = [image ? 'the image that is sent' : '', given.has('row') ? 'row' : '', given.has('uri') ? 'uri' : ''];
  const named = kinds.filter(Boolean);
  if (named.length !== 1) {
    throw new Refusal(
      'invalid',
      `Expected row, uri, or an image by POST, but received ${named.join(' and ') || 'none'}`,
    );
  }
  if (image) return { $case: 'image', value: image };
  if (given.has('row')) return { $case: 'row', value: given.number('row') };
  return { $case: 'frame', value: { uri: given.text('uri'), frame: given.number('frame') } };
}

function regionOf(text: string): PixelRegion | undefined {
  if (text === '') return undefined;
  const numbers = /^(\d{1,9}),(\d{1,9}),(\d{1,9})x(\d{1,9})$/.exec(text)?.slice(1).map(Number);
  if (!numbers) refuseValue('region', text, 'X,Y,WxH');
  const [x, y, width, height] = numbers as [number, number, number, number];
  return { x, y, width, height };
}

/** The frames of an index that a query asks for. Throws Refusal. */
export function readListFrames(query: string): ListFramesRequest {
  const given = new Parameters(query, ['index', 'first', 'step', 'count']);
  const [first, step, count] = [given.number('first'), given.number('step'), given.number('count')];
  return { index: given.text('index'), first, step, count };
}

/** The changes that a query asks for. Throws Refusal. */
export function readChanges(query: string): ChangesRequest {
  const given = new Parameters(query, ['job_id', 'out', 'pipeline', 'min_duration', 'threshold', 'camera']);
  const [minDuration, threshold] = [given.number('min_duration'), given.number('threshold')];
  const [jobId, out, pipeline, camera] = ['job_id', 'out', 'pipeline', 'camera'].map((name) => given.text(name)) as [
    string,
    string,
    string,
    string,
  ];
  return { jobId, out, pipeline, camera, minDuration, threshold };
}

/** Pixels a side of a picture: 256 unless given, 1024 at most. Throws Refusal. */
export function readSide(query: string): number {
  const side = new Parameters(query, ['side']).number('side') || 256;
  if (side < 16 || side > 1024) refuseValue('side', side, '16 to 1024 pixels');
  return side;
}
