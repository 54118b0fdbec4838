import { readFile } from 'node:fs/promises';
import { dziTilePx } from './map-dzi.ts';

/** The most maps that a page lists: nobody looks through a longer list. */
const mostListed = 10_000;

/** A map for Deep Zoom in the folder of the page; `name` is the name of its files, without extension. */
export interface ListedMap {
  name: string;
  width: number;
  height: number;
}

/** The file, in the folder of the page, that the page loads as a script. */
export const dziScriptName = 'openseadragon.js';

/** The content of dziScriptName: the library OpenSeadragon. */
export const dziScript = (): Promise<Uint8Array> =>
  readFile(new URL('openseadragon.min.js', import.meta.resolve('openseadragon')));

/**
 * A page that shows the maps of its folder, and can be opened from a disk without a server. There a browser does not
 * read .dzi files, so the page contains the sizes.
 */
export function dziPage(maps: Iterable<ListedMap>): string {
  const listed: ListedMap[] = [];
  let leftOut = 0;
  for (const { name, width, height } of maps) {
    if (listed.length < mostListed) listed.push({ name, width, height });
    else leftOut++;
  }
  // So that a name cannot end the script.
  const json = JSON.stringify(listed).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Maps – halogrid</title>
<style>
  :root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
  body { margin: 0; display: flex; flex-direction: column; height: 100vh; }
  form { display: flex; flex-wrap: wrap; gap: 0.3rem 1rem; padding: 0.5rem 0.8rem; }
  select { font: inherit; max-width: 60vw; }
  #map { flex: 1; background: #0b0f13; }
</style>
<form>
  <label>Map <select id="names"></select></label>
  <span id="size"></span>
  ${leftOut > 0 ? `<span>${leftOut} more are not listed</span>` : ''}
</form>
<div id="map"></div>
<script src="${dziScriptName}"></script>
<script>
  const maps = ${json};
  const names = document.getElementById('names');
  const viewer = OpenSeadragon({
    id: 'map',
    drawer: 'canvas',
    showNavigationControl: false,
    imageSmoothingEnabled: false,
    maxZoomPixelRatio: 16,
  });
  const show = () => {
    const { name, width, height } = maps[names.selectedIndex];
    document.getElementById('size').textContent = width + ' × ' + height + ' pixels';
    viewer.open({
      width, height, tileSize: ${dziTilePx}, tileOverlap: 0,
      getTileUrl: (level, x, y) => encodeURIComponent(name) + '_files/' + level + '/' + x + '_' + y + '.png',
    });
  };
  names.append(...maps.map(({ name }) => new Option(name)));
  names.addEventListener('change', show);
  if (maps.length > 0) show();
</script>
</html>
`;
}
