/** A job to plan and run. */
export interface Job {
  name: string;
  /** An input below the folder of inputs. Remote inputs come from a server on this machine. */
  source: string;
  options: readonly string[];
  isRemote: boolean;
}

const job = (name: string, source: string, options: string, isRemote = false): Job => ({
  name,
  source,
  options: options.split(' '),
  isRemote,
});

const cpu = '--device cpu';
const software = '--device software';

/** Jobs of different kinds, of some seconds at most each. Large ones are scaled down. */
export const jobs: readonly Job[] = [
  job('one small image', 'small.pgm', cpu),
  job('tiny tiles of a PGM', 'small.pgm', `${cpu} --tile 7`),
  job('tiny tiles of a TIFF', 'small.tif', `${cpu} --tile 16`),
  job('large TIFF', 'giga.tif', cpu),
  job('large TIFF, its map', 'half.tif', `${cpu} --map tiff`),
  job('large TIFF, its Zarr', 'half.tif', `${cpu} --map zarr --tile 1024`),
  job('large TIFF, Sobel as float32', 'half.tif', `${cpu} --op conv:kernel=sobel --map tiff`),
  job('16-bit TIFF, LDP', 'deep.tif', `${cpu} --op ldp`),
  job(
    'large TIFF, smoothed, 16 neighbours',
    'half.tif',
    `${cpu} --op conv:kernel=gaussian-5,as=u8 --op lbp:points=16,radius=2,labels=uniform`,
  ),
  job('large JPEG in tiles', 'large.jpg', `${cpu} --tile 1024`),
  job('large PNG in tiles, two nodes', 'large.png', `${cpu} --tile 512 --nodes 2`),
  job('1080p JPEG', 'jpeg-1080p', cpu),
  job('1080p JPEG, four nodes', 'jpeg-1080p', `${cpu} --nodes 4`),
  job('1080p JPEG, colour', 'jpeg-1080p', `${cpu} --op conv:kernel=gaussian-5,channels=rgb,as=u8`),
  job('VGA JPEG', 'jpeg-vga', cpu),
  job('VGA JPEG, cells of a grid', 'jpeg-vga', `${cpu} --grid 8x8`),
  job('VGA JPEG, PNG maps', 'jpeg-vga', `${cpu} --map png`),
  job('PNG frames', 'png', cpu),
  job('WebP frames', 'webp', cpu),
  job('TIFF frames', 'tiff', cpu),
  job('PGM frames, LDP in a grid', 'pgm', `${cpu} --op ldp:order=3 --grid 4x6`),
  job('tiny PGM frames', 'pgm-tiny', cpu),
  job('H.264 recording', 'camera.mp4', cpu),
  job('MPEG-4 recording, every tenth, two nodes', 'camera.avi', `${cpu} --every 10 --nodes 2`),
  job('VGA JPEG from a server', 'jpeg-vga', cpu, true),
  job('large TIFF from a server', 'half.tif', cpu, true),
  job('PGM frames on the software device', 'pgm-few', software),
  job('Gaussian on the software device', 'pgm-few', `${software} --op conv:kernel=gaussian-5,as=u8`),
];
