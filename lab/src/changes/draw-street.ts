import { seeded } from '../../../test/seeded.ts';
import { frameSize, type Street } from './street.ts';

const { width, height } = frameSize;
/** The world is wider than the view, so that the camera can turn. */
const worldWidth = 2 * width;
const turnedBy = 170;
const horizon = 40;
const blurRadius = 4;

/** Draws a street, an 8-bit gray frame a second. A frame is valid until the next one. */
export function* drawStreet(street: Street): Generator<Uint8Array> {
  const random = seeded(street.seed + 1);
  const world = drawWorld(random);
  const noise = gaussians(random);
  const scene = new Float32Array(width * height);
  const frame = new Uint8Array(width * height);
  for (let second = 0; second < street.seconds; second++) {
    const kind = street.incidents.find(
      ({ kind, start, end }) => kind !== 'left' && second >= start && second < end,
    )?.kind;
    const light = lightAt(second, street.seconds);
    if (kind === 'covered') scene.fill(9);
    else drawScene(scene, street, world, second, light, kind === 'turned' ? turnedBy : 0, random);
    if (kind === 'blurred') for (const step of [1, width]) blur(scene, step);
    const deviation = 1.5 + 1.5 * (1 - light);
    let at = Math.floor(random() * noise.length);
    for (let i = 0; i < frame.length; i++) {
      // Uneven steps through the table, so that rows do not repeat.
      at = (at + 1 + (i % 7 === 0 ? 2 : 0)) & (noise.length - 1);
      frame[i] = Math.max(0, Math.min(255, Math.round(scene[i]! + deviation * noise[at]!)));
    }
    yield frame;
  }
}

/**
 * Light from 0 to 1: full, with clouds that last minutes, for three fifths of the time; then dusk, an hour at most,
 * down to a third.
 */
function lightAt(second: number, seconds: number): number {
  const clouds = 0.04 * Math.sin(second / 97) + 0.03 * Math.sin(second / 41);
  const dusk = (second - 0.6 * seconds) / Math.min(0.35 * seconds, 3600);
  return (0.93 + clouds) * (1 - 0.65 * Math.min(1, Math.max(0, dusk)));
}

/** Draws all that does not move: sky, houses with windows, pavements, a road with its line. */
function drawWorld(random: () => number): Float32Array {
  const world = new Float32Array(worldWidth * height);
  for (let x = 0; x < worldWidth; x++) {
    const house = Math.floor(x / 64);
    const roof = horizon - 8 * ((house * 7) % 4);
    for (let y = 0; y < height; y++) {
      let value = 190 - y / 2;
      if (y >= roof && y < 96) value = isWindow(x, y, house) ? 60 : 110 + ((house * 37) % 60);
      else if (y >= 96 && y < 116) value = (x + y) % 12 === 0 ? 125 : 140;
      else if (y >= 116 && y < 160) value = y >= 136 && y < 139 && x % 40 < 20 ? 200 : 90;
      else if (y >= 160) value = y === 160 ? 180 : 135;
      world[y * worldWidth + x] = value + (y < roof ? 0 : 3 * (random() - 0.5));
    }
  }
  return world;
}

const isWindow = (x: number, y: number, house: number): boolean =>
  (x % 64) % 16 > 4 && (x % 64) % 16 < 12 && (y + 5 * house) % 22 > 8;

function drawScene(
  scene: Float32Array,
  street: Street,
  world: Float32Array,
  second: number,
  light: number,
  shift: number,
  random: () => number,
): void {
  // Within the time the shadow of the houses moves over pavement and road, and that of a lamp post from left to right.
  const shadowEnd = 98 + (30 * second) / street.seconds;
  const postShadow = 60 + (120 * second) / street.seconds;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const isPost = y >= 96 && y < 140 && Math.abs(x + shift - postShadow - (y - 96)) < 2;
      // The edge of the shadow is soft and slants.
      const shaded =
        y < 96 ? 0 : Math.max(isPost ? 1 : 0, Math.min(1, Math.max(0, (shadowEnd + (x + shift) / 16 - y) / 2)));
      scene[y * width + x] = world[y * worldWidth + x + shift]! * light * (1 - 0.35 * shaded);
    }
  }
  // Leaves in the wind.
  for (let i = 0; i < 400; i++) {
    const [x, y] = [Math.floor(250 + 36 * random()) - shift, Math.floor(50 + 40 * random())];
    if (x >= 0 && x < width) scene[y * width + x] = (50 + 60 * random()) * light;
  }
  const box = (x: number, foot: number, wide: number, high: number, shade: number): void => {
    for (let row = foot - high; row < foot; row++) {
      for (let column = Math.max(0, x); column < Math.min(width, x + wide); column++) {
        const isStripe = (row - foot + high) % 5 === 4;
        scene[row * width + column] = (isStripe ? shade + 45 : shade) * light;
      }
    }
  };
  for (const { start, x, foot, width: wide, height: high, shade } of street.objects) {
    if (second >= start) box(x - shift, foot, wide, high, shade);
  }
  for (const { start, from, speed, foot, width: wide, height: high, shade } of street.movers) {
    if (second < start || second > start + (2 * width) / Math.abs(speed)) continue;
    box(Math.round(from + speed * (second - start)) - shift, foot, wide, high, shade);
  }
}

/** Blurs by the mean of neighbours on both sides within the picture. `step` is 1 for rows, the width for columns. */
function blur(scene: Float32Array, step: number): void {
  const lines = step === 1 ? height : width;
  const length = step === 1 ? width : height;
  const line = new Float32Array(length);
  for (let n = 0; n < lines; n++) {
    const first = step === 1 ? n * width : n;
    for (let i = 0; i < length; i++) line[i] = scene[first + i * step]!;
    for (let i = 0; i < length; i++) {
      const [from, to] = [Math.max(0, i - blurRadius), Math.min(length - 1, i + blurRadius)];
      let sum = 0;
      for (let j = from; j <= to; j++) sum += line[j]!;
      scene[first + i * step] = sum / (to - from + 1);
    }
  }
}

/** 2^16 numbers of a normal distribution of mean 0 and deviation 1: Box and Muller. */
function gaussians(random: () => number): Float32Array {
  return Float32Array.from(
    { length: 2 ** 16 },
    () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  );
}
