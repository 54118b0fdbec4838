// Draws the pictures of samples/: node_modules/.bin/node scripts/make-samples.mjs Everything is computed here from
// value noise, so nobody else has rights in the pictures. make-sample-recording.mjs draws the recording, because that
// needs an encoder.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { clamp, fractal, hash, mix } from './value-noise.mjs';

const samples = fileURLToPath(new URL('../samples/', import.meta.url));
for (const folder of ['images', 'frames']) {
  rmSync(samples + folder, { recursive: true, force: true });
  mkdirSync(samples + folder, { recursive: true });
}

/** The bytes of a picture; `pixel` gives the values of all channels at (x, y). */
function draw(width, height, channels, pixel) {
  const bytes = new Uint8Array(width * height * channels);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (const value of pixel(x, y)) bytes[at++] = clamp(Math.round(value), 0, 255);
    }
  }
  return sharp(bytes, { raw: { width, height, channels } });
}

/** A survey map: rough hills lit from the north-west, with contour lines. Large enough to be cut into tiles. */
async function drawSurvey() {
  const height = (x, y) => fractal(x / 900, y / 900, 4, 1);
  const image = draw(4100, 2500, 1, (x, y) => {
    const here = height(x, y);
    const slope = height(x + 4, y + 4) - here;
    const light = clamp(0.6 + 45 * slope + 0.3 * (fractal(x / 7, y / 7, 2, 20) - 0.5), 0, 1);
    const isContour = Math.floor(here * 40) !== Math.floor(height(x + 2, y) * 40);
    return [isContour ? 40 : 70 + 170 * light];
  }).toColourspace('b-w');
  await image
    .tiff({ compression: 'jpeg', quality: 40, tile: true, tileWidth: 256, tileHeight: 256 })
    .toFile(`${samples}images/survey.tif`);
}

/** A street seen by a fixed camera: textured ground, a brick wall, drifting clouds, and cars that pass. */
function streetPixel(frame) {
  const cars = [
    { x: -150 + frame * 31, y: 236, width: 118, height: 42, colour: [168, 52, 46] },
    { x: 680 - frame * 24, y: 288, width: 140, height: 50, colour: [52, 84, 150] },
  ];
  return (x, y) => {
    const car = cars.find((c) => x >= c.x && x < c.x + c.width && y >= c.y && y < c.y + c.height);
    const grain = 5 * (hash(x, y, 1000 + frame) - 0.5);
    if (car) {
      const isWindow = y < car.y + car.height * 0.4 && (x - car.x) % 48 > 10;
      const shade = 1 - (0.5 * (y - car.y)) / car.height;
      return (isWindow ? [30, 36, 44] : car.colour).map((v) => v * shade + grain);
    }
    if (y < 120) {
      const cloud = clamp(fractal((x + frame * 3) / 130, y / 60, 5, 40) * 2.2 - 0.8, 0, 1);
      return [mix(110, 236, cloud), mix(150, 238, cloud), mix(205, 242, cloud)].map((v) => v + grain);
    }
    if (y < 205) {
      const row = Math.floor((y - 120) / 12);
      const isJoint = (y - 120) % 12 < 2 || (x + (row % 2) * 14) % 28 < 2;
      const tone = 0.75 + 0.5 * hash(Math.floor((x + (row % 2) * 14) / 28), row, 7);
      return (isJoint ? [150, 145, 138] : [150 * tone, 84 * tone, 66 * tone]).map((v) => v + grain);
    }
    const asphalt = 70 + 45 * fractal(x / 24, y / 12, 4, 60);
    const isMarking = Math.abs(y - 282) < 2 && x % 80 < 44;
    return (isMarking ? [214, 210, 190] : [asphalt, asphalt, asphalt + 4]).map((v) => v + grain);
  };
}

async function drawFrames() {
  for (let frame = 0; frame < 24; frame++) {
    const name = `street-${String(frame).padStart(2, '0')}.jpg`;
    await draw(640, 360, 3, streetPixel(frame)).jpeg({ quality: 80 }).toFile(`${samples}frames/${name}`);
  }
}

async function drawTextures() {
  const bark = (x, y) => 30 + 200 * fractal(x / 14 + 2 * fractal(x / 60, y / 60, 3, 80), y / 90, 5, 81);
  const cloth = (x, y) =>
    120 + 50 * Math.sin(x / 2.2) * Math.sin(y / 2.2) + 60 * (fractal(x / 80, y / 80, 4, 90) - 0.5);
  const grass = (x, y) => {
    const blade = fractal(x / 5, y / 17, 4, 100);
    return [40 + 90 * blade, 70 + 150 * blade, 30 + 50 * blade];
  };
  await draw(480, 320, 3, grass).png({ compressionLevel: 9 }).toFile(`${samples}images/grass.png`);
  await draw(1024, 768, 1, (x, y) => [cloth(x, y)])
    .toColourspace('b-w')
    .jpeg({ quality: 75 })
    .toFile(`${samples}images/cloth.jpg`);
  await draw(401, 267, 3, (x, y) => [bark(x, y), bark(x, y) * 0.8, bark(x, y) * 0.6])
    .webp({ quality: 80 })
    .toFile(`${samples}images/bark.webp`);
  const { data, info } = await draw(301, 199, 1, (x, y) => [bark(x * 1.7, y * 1.7)])
    .toColourspace('b-w')
    .raw()
    .toBuffer({ resolveWithObject: true });
  writeFileSync(
    `${samples}images/trunk.pgm`,
    Buffer.concat([Buffer.from(`P5\n${info.width} ${info.height}\n255\n`), data]),
  );
}

await drawTextures();
await drawFrames();
await drawSurvey();
