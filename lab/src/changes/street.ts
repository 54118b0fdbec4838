import { seeded } from '../../../test/seeded.ts';

/** An event in a drawn street. Times are seconds from the beginning. */
export interface Incident {
  kind: 'left' | 'covered' | 'turned' | 'blurred';
  start: number;
  /** The first second without it; objects stay. */
  end: number;
}

/** Something that moves along the street: its left edge is at `from + speed * (second - start)`. */
export interface Mover {
  start: number;
  from: number;
  speed: number;
  /** Row of its lower edge. */
  foot: number;
  width: number;
  height: number;
  shade: number;
}

/** An object that a person has put down. */
export interface LeftObject {
  start: number;
  x: number;
  foot: number;
  width: number;
  height: number;
  shade: number;
}

export interface Street {
  seconds: number;
  seed: number;
  movers: Mover[];
  objects: LeftObject[];
  incidents: Incident[];
}

export const frameSize = { width: 320, height: 180 } as const;

/** Rows of the two pavements of people and the two lanes of cars. */
const pavements = [112, 174];
const lanes = [132, 154];

/** The least distance of objects on one pavement. */
const apartPx = 20;

/** Plans a street of `seconds` seconds: people every 20 s, cars every 15 s, and six incidents spread over the time. */
export function planStreet(seconds: number, seed: number): Street {
  const random = seeded(seed);
  const movers: Mover[] = [];
  const everyAbout = (mean: number, make: (start: number) => Mover): void => {
    for (let at = mean * random(); at < seconds; at += -mean * Math.log(1 - random()))
      movers.push(make(Math.floor(at)));
  };
  everyAbout(20, (start) => person(start, random));
  everyAbout(15, (start) => {
    const [lane, width] = [random() < 0.5 ? 0 : 1, 36 + Math.floor(14 * random())];
    const speed = (lane ? 1 : -1) * (90 + 60 * random());
    const from = lane ? -width : frameSize.width;
    return { start, from, speed, foot: lanes[lane]!, width, height: 16, shade: 40 + 170 * random() };
  });
  const incidents: Incident[] = [];
  const objects: LeftObject[] = [];
  const kinds = ['left', 'blurred', 'left', 'covered', 'turned', 'left'] as const;
  for (const [i, kind] of kinds.entries()) {
    const start = Math.floor((seconds * (i + 0.6 + 0.4 * random())) / (kinds.length + 1));
    const lasts = Math.min(300, Math.floor(seconds / 20));
    incidents.push({ kind, start, end: kind === 'left' ? seconds : start + lasts });
    if (kind !== 'left') continue;
    const { carrier, x } = freePlace(start, objects, random);
    movers.push(carrier);
    objects.push({
      start,
      x,
      foot: carrier.foot,
      width: 10 + Math.floor(5 * random()),
      height: 9 + Math.floor(7 * random()),
      shade: 30 + 40 * random(),
    });
  }
  return { seconds, seed, movers, objects, incidents };
}

/** A person who carries an object to a free place. In front of another object it could not be told apart. */
function freePlace(start: number, objects: readonly LeftObject[], random: () => number): { carrier: Mover; x: number } {
  for (;;) {
    const carrier = person(start - 4, random);
    const x = Math.round(carrier.from + 4 * carrier.speed);
    if (objects.every((other) => other.foot !== carrier.foot || Math.abs(other.x - x) > apartPx)) return { carrier, x };
  }
}

function person(start: number, random: () => number): Mover {
  const isRight = random() < 0.5;
  const speed = (isRight ? 1 : -1) * (18 + 8 * random());
  const foot = pavements[random() < 0.5 ? 0 : 1]!;
  return { start, from: isRight ? -8 : frameSize.width, speed, foot, width: 7, height: 22, shade: 30 + 120 * random() };
}
