import type { CaptureOptions, JobSpec, Share, SourceFilter, VideoOptions } from '@halogrid/proto';
import { jsonName } from '@halogrid/proto/json-name';

/** Fields with fields of their own. */
type Nested = 'video' | 'captured' | 'share' | 'filter' | 'sources';

/**
 * The option that sets each field of a specification. Fields of a nested message have one option each, or share one.
 */
const options: { readonly [Field in Exclude<keyof JobSpec, Nested>]: string } & {
  readonly video: { readonly [Field in keyof VideoOptions]-?: string };
  readonly share: { readonly [Field in keyof Share]: string };
  readonly captured: { readonly [Field in keyof CaptureOptions]: string };
  readonly filter: { readonly [Field in keyof SourceFilter]: string };
} = {
  pipeline: '--op',
  op: '--op',
  pipelines: '--pipeline',
  out: '--out',
  mapFormat: '--map',
  tilePx: '--tile',
  batchFrames: '--batch',
  grid: '--grid',
  band: '--band',
  scale: '--scale',
  priority: '--priority',
  verifyPercent: '--verify',
  checksum: '--checksum',
  fresh: '--fresh',
  maxQuarantined: '--max-quarantined',
  waitForNode: '--wait-for-node',
  column: '--column',
  nodata: '--nodata',
  mask: '--mask',
  level: '--level',
  page: '--page',
  video: {
    every: '--every',
    fromMs: '--from',
    toMs: '--to',
    fpsNum: '--fps',
    fpsDen: '--fps',
    hwaccel: '--hwaccel',
  },
  filter: { include: '--include', exclude: '--exclude' },
  share: { number: '--part', of: '--part', plan: '--plan', splitImages: '--split-images' },
  captured: { from: '--captured-from', zone: '--captured-zone' },
};

/** The option or argument for a field of a specification; a name that is not a field is returned unchanged. */
export function optionOfField(field: string): string {
  const [, place] = /^sources(?:\[(\d+)\])?$/.exec(field) ?? [];
  if (place !== undefined) return `SOURCE ${Number(place) + 1}`;
  if (field === 'sources') return 'SOURCE';
  if (field.endsWith('.border')) return '--border';
  const [first = '', second = ''] = jsonName(field).split(/[.[]/);
  const found = Object.hasOwn(options, first) ? options[first as keyof typeof options] : field;
  if (typeof found === 'string') return found;
  return Object.hasOwn(found, second) ? (found as Record<string, string>)[second]! : field;
}
