/** Extensions that make a file in a folder a video; that it is one is told by content, later. */
export const videoExtensions = ['mp4', 'm4v', 'mov', 'mkv', 'avi', 'ts', 'm2ts', 'mts'];

const videos = new Set(videoExtensions);

export function hasVideoExtension(name: string): boolean {
  return videos.has(/\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? '');
}

/** Extensions that make a file in a folder an input; formats are told by content, later. */
const supported = ['jpg', 'jpeg', 'jpe', 'jfif', 'png', 'webp', 'tif', 'tiff', 'pgm', 'ppm', 'pnm'];

/** Images too, so they are not passed over in silence: opening them says that their format is not supported. */
const unsupported = ['gif', 'bmp', 'heic', 'heif', 'avif', 'jp2', 'jxl', 'svg', 'pbm', 'pam', 'exr', 'dng'];

const extensions = new Set([...supported, ...unsupported, ...videoExtensions]);

/** Whether a file of that name is meant to be an image. */
export function hasImageExtension(name: string): boolean {
  return extensions.has(/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '');
}

/** For sentences. */
export const supportedExtensions = [...supported, ...videoExtensions].join(', ');
