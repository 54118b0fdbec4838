// Draws samples/videos/cam1.mp4: node_modules/.bin/node scripts/make-sample-recording.mjs Needs the program ffmpeg with
// x264 (apt-get install ffmpeg). The committed file was made with Debian 12's (FFmpeg 5.1.9, x264 164); each run with
// it makes the same bytes. Every picture is computed here, so nobody else has rights in the recording.
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { clamp, fractal, hash, mix } from './value-noise.mjs';

const width = 480;
const height = 270;
const framesASecond = 10;
const seconds = 8;
/** The pixel rows at which the wall, the pavement and the road begin. */
const wallTop = 46;
const pavementTop = 148;
const roadTop = 178;

/**
 * The colour at (x, y) of the street's fixed parts: sky, a brick wall with windows and a door, the pavement, the road.
 */
function streetAt(x, y) {
  if (y < wallTop) {
    const cloud = clamp(fractal(x / 110, y / 50, 4, 40) * 2.2 - 0.8, 0, 1);
    return [mix(120, 236, cloud), mix(158, 238, cloud), mix(208, 242, cloud)];
  }
  if (y < pavementTop) return wallAt(x, y);
  if (y < roadTop) {
    const isJoint = (x + 2 * (y - pavementTop)) % 46 < 2 || y % 15 === 0;
    const stone = 142 + 36 * fractal(x / 9, y / 7, 3, 70);
    return isJoint ? [118, 116, 112] : [stone, stone - 2, stone - 8];
  }
  if (y < roadTop + 4) return [172, 170, 164];
  const isMarking = Math.abs(y - 224) < 2 && x % 80 < 46;
  const asphalt = 62 + 44 * fractal(x / 13, y / 7, 4, 60);
  return isMarking ? [206, 203, 190] : [asphalt, asphalt, asphalt + 4];
}

function wallAt(x, y) {
  const inWindow = y > 62 && y < 108 && x % 96 > 30 && x % 96 < 66;
  const isDoor = x > 216 && x < 248 && y > 92;
  if (isDoor) return x % 8 < 1 ? [52, 40, 30] : [86, 62, 44];
  if (inWindow && !(x > 192 && x < 288)) {
    const isFrame = x % 96 < 33 || x % 96 > 63 || y < 65 || y > 105 || x % 96 === 48;
    const glass = 44 + 40 * fractal(x / 22, y / 30, 3, 90);
    return isFrame ? [212, 210, 204] : [glass, glass + 10, glass + 18];
  }
  const row = Math.floor((y - wallTop) / 9);
  const along = x + (row % 2) * 10;
  const tone = 0.75 + 0.5 * hash(Math.floor(along / 20), row, 7);
  return (y - wallTop) % 9 < 2 || along % 20 < 2 ? [150, 145, 138] : [146 * tone, 84 * tone, 68 * tone];
}

/** Whether (x, y) is within `radius` of the line from (x0, y0) to (x1, y1). */
function isNear(x, y, [x0, y0, x1, y1], radius) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const t = length > 0 ? clamp(((x - x0) * dx + (y - y0) * dy) / length, 0, 1) : 0;
  return (x - x0 - t * dx) ** 2 + (y - y0 - t * dy) ** 2 < radius * radius;
}

const isInBox = (x, y, left, top, right, bottom) => x >= left && x < right && y >= top && y < bottom;

/**
 * The colour at (x, y) of a car whose bonnet points in the direction of `sign`, with its front at `front` and its
 * wheels at `ground`; undefined beside it.
 */
function carAt(x, y, front, ground, sign, paint) {
  // From the front backwards, and upwards from the ground.
  const [back, up] = [(front - x) * sign, ground - y];
  if ([24, 92].some((wheel) => (back - wheel) ** 2 + (up - 11) ** 2 < 121)) {
    return [24, 92].some((wheel) => (back - wheel) ** 2 + (up - 11) ** 2 < 25) ? [150, 150, 152] : [26, 26, 28];
  }
  if (isInBox(back, up, 0, 8, 118, 28))
    return isInBox(back, up, 0, 16, 5, 22) ? [250, 238, 180] : shaded(paint, up / 28);
  const slope = (up - 28) * 0.9;
  if (up < 28 || up >= 46 || back < 30 + slope || back >= 104 - slope / 3) return undefined;
  const isGlass = up < 43 && up > 30 && back > 36 + slope && back < 98 - slope / 3 && Math.abs(back - 68) > 2;
  return isGlass ? [40, 50, 60] : shaded(paint, 1);
}

const shaded = (colour, light) => colour.map((v) => v * (0.55 + 0.45 * light));

/** The colour at (x, y) of a walking figure with its feet at (at, ground); undefined beside it. */
function walkerAt(x, y, at, ground, stride) {
  const swing = 9 * Math.sin(stride);
  const hip = ground - 25;
  const neck = hip - 22;
  if (isNear(x, y, [at + 1, neck - 7, at + 1, neck - 7], 5.5)) return [198, 156, 128];
  if (isNear(x, y, [at, neck + 2, at - swing * 0.7, hip - 4], 2.2)) return [64, 92, 74];
  if (isNear(x, y, [at, neck + 2, at, hip], 6)) return [52, 78, 62];
  const knees = [swing, -swing].map((way) => [at, hip, at + way, ground - 2 - Math.max(0, way) / 4]);
  return knees.some((leg) => isNear(x, y, leg, 3)) ? [44, 46, 62] : undefined;
}

/** The colour of the moving object at (x, y) at a time in seconds; undefined if the street is seen there. */
function passingAt(x, y, time) {
  const oncoming = carAt(x, y, 620 - 118 * time, 216, -1, [58, 92, 156]);
  const near = carAt(x, y, -60 + 96 * time, 258, 1, [176, 52, 46]);
  return near ?? oncoming ?? walkerAt(x, y, 36 + 41 * time, 172, 5.2 * time);
}

const street = Array.from({ length: height }, (_, y) => Array.from({ length: width }, (_, x) => streetAt(x, y)));
const quarters = [0.25, 0.75];

/** A frame as RGB. Each pixel is the mean of four places in it, so that edges move smoothly. */
function drawFrame(frame) {
  const time = frame / framesASecond;
  const bytes = Buffer.alloc(width * height * 3);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) {
      const sum = [0, 0, 0];
      for (const dy of quarters) {
        for (const dx of quarters) {
          const colour = passingAt(x + dx, y + dy, time) ?? street[y][x];
          for (let c = 0; c < 3; c++) sum[c] += colour[c];
        }
      }
      for (let c = 0; c < 3; c++) bytes[at + c] = clamp(Math.round(sum[c] / 4), 0, 255);
    }
  }
  return bytes;
}

const folder = fileURLToPath(new URL('../samples/videos/', import.meta.url));
mkdirSync(folder, { recursive: true });
const path = `${folder}cam1.mp4`;
const raw = `-f rawvideo -pix_fmt rgb24 -s ${width}x${height} -r ${framesASecond} -i -`;
// Key frames every two seconds, so that the file has segments. One thread, and no version strings of encoders, so that
// the bytes are always the same.
const encoder =
  '-c:v libx264 -pix_fmt yuv420p -preset veryslow -crf 21 -g 20 -keyint_min 20 -sc_threshold 0 -bf 2 -threads 1 -bitexact ' +
  '-bsf:v filter_units=remove_types=6 -movflags +faststart';
const frames = Array.from({ length: seconds * framesASecond }, (_, frame) => drawFrame(frame));
execFileSync('ffmpeg', [...`-v error -y ${raw} ${encoder}`.split(' '), path], { input: Buffer.concat(frames) });
console.log(`${path}: ${frames.length} frames, ${statSync(path).size} bytes`);
