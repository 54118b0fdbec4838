/**
 * A path inside a file, for a fragment of a URI, with a mark in front of its extension: `/a/1.jpg` and `12` are
 * `/a/1@12.jpg`. So the end of a URI tells the format.
 */
export function markedPath(path: string, mark: string | number): string {
  const dot = path.lastIndexOf('.');
  const end = dot > path.lastIndexOf('/') + 1 ? dot : path.length;
  const extension = escaped(path.slice(end)).replaceAll('@', '%40');
  return `${escaped(path.slice(0, end))}@${mark}${extension}`;
}

const escaped = (path: string): string => encodeURI(path).replace(/[#?]/g, encodeURIComponent);

/** The text that was escaped; a text that no program escapes so stays as it is. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
