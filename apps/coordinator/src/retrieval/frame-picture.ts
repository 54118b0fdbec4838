import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { thumbnail } from '@halogrid/results/thumbnails';
import { allowedPath } from '@halogrid/sources';
import { Refusal } from '../job/refusal.ts';
import type { Orders, Picture } from './orders.ts';
import type { ShownFrame, Tickets } from './tickets.ts';

type PictureOrder = Orders['picture']['order'];

/** The picture of a frame that was told of, or of the map that its job kept. Rejects with Refusal, and as sources do. */
export async function framePicture({ ticket, of, side }: PictureOrder, tickets: Tickets): Promise<Picture> {
  const shown = tickets.read(ticket);
  if (!shown) throw new Refusal('missing', 'This coordinator has not told of that frame: ask for it again');
  const { uri, frame, isVideo } = shown;
  const box = { width: side, height: side };
  if (of === 'map') return mapPicture(shown, box);
  const { png, of: size } = await thumbnail({ uri, ...(isVideo && { videoFrame: frame }) }, box);
  return { png, ...size };
}

/** Files of a job that may show the map of a source, the smallest first. */
const mapFiles = (name: string): string[] => [join('preview', `${name}.png`), join('maps', `${name}.png`)];

async function mapPicture(shown: ShownFrame, box: { width: number; height: number }): Promise<Picture> {
  const none = new Refusal('missing', 'The job of this frame kept no map of it that can be shown');
  if (shown.out === undefined) throw none;
  const out = fileURLToPath(shown.out);
  const name = await nameOf(await allowedPath(join(out, 'sources.jsonl')), shown);
  for (const file of name === undefined ? [] : mapFiles(name)) {
    const path = await allowedPath(join(out, file));
    const picture = await thumbnail({ uri: pathToFileURL(path).href }, box).catch(() => undefined);
    if (picture) return { png: picture.png, ...picture.of };
  }
  throw none;
}

/** The name of a frame's files, as the job's list of sources has it. */
async function nameOf(list: string, { uri, frame }: ShownFrame): Promise<string | undefined> {
  const file = createReadStream(list);
  // Parsing a line takes twenty times as long as looking for the URI in it.
  const wanted = JSON.stringify(uri);
  try {
    for await (const line of createInterface({ input: file })) {
      if (!line.includes(wanted)) continue;
      const source = JSON.parse(line) as { uri?: string; frame?: number; name?: string };
      if (source.uri !== uri || (source.frame ?? 0) !== frame) continue;
      return source.name === undefined || /[/\\]/.test(source.name) ? undefined : source.name;
    }
  } catch {
    // The job's output is gone, or is not what it was.
  } finally {
    file.destroy();
  }
  return undefined;
}
