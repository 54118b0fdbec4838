import { Refusal } from '@halogrid/jobs/refusal';
import { type Place, PlaceError, placeAt, placeOfUri } from '@halogrid/results/place';
import { SourceList } from '@halogrid/results/source-list';
import { thumbnail } from '@halogrid/results/thumbnails';
import { SourceForbiddenError } from '@halogrid/sources';
import { allowedPlace } from './allowed-place.ts';
import type { Orders, PngPicture } from './orders.ts';
import type { ShownFrame, Tickets } from './tickets.ts';

type PictureOrder = Orders['picture']['order'];

/**
 * The picture of the frame that a ticket names, or of its map if the job kept one. Rejects with Refusal, InputError or
 * PlaceError.
 */
export async function framePicture({ ticket, of, side }: PictureOrder, tickets: Tickets): Promise<PngPicture> {
  const shown = tickets.read(ticket);
  if (!shown) throw new Refusal('missing', 'This coordinator has not told of that frame: ask for it again');
  const { uri, frame, isVideo, read } = shown;
  const box = { width: side, height: side };
  if (of === 'map') return mapPicture(shown, box);
  const { png, of: size } = await thumbnail({ uri, videoFrame: isVideo ? frame : undefined, read }, box);
  return { png, ...size };
}

/** The files of a job that may show the map of a source, the smallest first. */
const mapFiles = (name: string): string[] => [`preview/${name}.png`, `maps/${name}.png`];

async function mapPicture(shown: ShownFrame, box: { width: number; height: number }): Promise<PngPicture> {
  const none = new Refusal('missing', 'The job of this frame kept no map of it that can be shown');
  if (shown.out === undefined) throw none;
  const out = placeOfUri(shown.out);
  const name = await nameOf(out, shown);
  for (const file of name === undefined ? [] : mapFiles(name)) {
    const { uri } = placeAt(await allowedPlace(out.in(file).at));
    const picture = await thumbnail({ uri }, box).catch(() => undefined);
    if (picture) return { png: picture.png, ...picture.of };
  }
  throw none;
}

/** The name of a frame's files, from the job's list of sources; undefined if the frame has none. */
async function nameOf(out: Place, { uri, frame }: ShownFrame): Promise<string | undefined> {
  try {
    const list = await SourceList.open(out.at, allowedPlace);
    const index = await list?.find(uri, frame);
    const source = index === undefined ? undefined : await list!.line(index);
    return source?.quarantined || source?.name === undefined || /[/\\]/.test(source.name) ? undefined : source.name;
  } catch (error) {
    if (error instanceof SourceForbiddenError || error instanceof PlaceError) throw error;
    // The output of the job is gone, or was changed.
    return undefined;
  }
}
