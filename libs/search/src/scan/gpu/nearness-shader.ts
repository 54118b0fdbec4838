import { readFileSync } from 'node:fs';
import type { CountBytes } from '../count-arrays.ts';

/**
 * How a GPU estimates nearness. `shared` adds up what the counts of vectors of one mass have in common. All others are
 * 0 less a distance, which is a sum of differences: if these are small, so is the rounding. gpu-bound.ts has the
 * reasons.
 */
export type GpuProgramName = 'shared' | 'absolute' | 'chiSquare' | 'roots' | 'directions';

/** Bytes of a count that GPUs look at. Counts that only float64 holds are left to threads. */
export type GpuCountBytes = Exclude<CountBytes, 8>;

/** Queries for which a lane of `best_of_many` keeps sums, and queries that its workgroup looks for at once. */
const laneQueries = 16;
export const manyQueries = 4 * laneQueries;
/** Counts of queries in workgroup memory at once: 8 KiB. Queries are padded to a multiple of it. */
export const manyChunk = 32;

const read = (name: string): string => readFileSync(new URL(`./${name}.wgsl`, import.meta.url), 'utf8');

/** Code for the k-th four counts in four words. */
const quads: Record<GpuCountBytes, string> = {
  1: 'vec4f((vec4u(word[k]) >> vec4u(0, 8, 16, 24)) & vec4u(255))',
  2: 'vec4f((vec4u(word[2 * k], word[2 * k], word[2 * k + 1], word[2 * k + 1]) >> vec4u(0, 16, 0, 16)) & vec4u(65535))',
  4: 'vec4f(word)',
};

/** Code for what counts become, and for a term of the sum over the bins. */
const terms: Record<GpuProgramName, { share: string; term: string }> = {
  shared: { share: 'counts', term: 'min(share, query)' },
  absolute: { share: 'counts * scale', term: 'abs(share - query)' },
  chiSquare: {
    share: 'counts * scale',
    // Less than any share of a bin, and large enough to divide by.
    term: '(share - query) * (share - query) / max(share + query, vec4f(1e-30))',
  },
  roots: { share: 'sqrt(counts) * scale', term: '(share - query) * (share - query)' },
  directions: { share: 'counts * scale', term: '(share - query) * (share - query)' },
};

/** The shader of `best_of_bundles` and `near_of_picks`: one query a lane. */
export const oneQueryShader = (program: GpuProgramName, width: GpuCountBytes): string =>
  [read('near'), distanceCode(program, width), read('one-query')].join('\n');

/** The shader of `best_of_many`: a lane looks at four vectors for 16 queries, so that what is read is used 64 times. */
export const manyQueriesShader = (program: GpuProgramName, width: GpuCountBytes): string =>
  [read('near'), distanceCode(program, width), manyCode()].join('\n');

/** The number of successive figures of a query whose largest is a summit: enough to have few summits. */
export const summitFigures = 64;

export const arrangeShader = (): string => read('arrange');
export const gatherShader = (): string => read('gather');
export const rangesShader = (): string => read('ranges');

function distanceCode(program: GpuProgramName, width: GpuCountBytes): string {
  const { share, term } = terms[program];
  return `
const QUADS = ${4 / width}u;
fn quad(word: vec4u, k: u32) -> vec4f { return ${quads[width]}; }
fn share(counts: vec4f, scale: f32) -> vec4f { return ${share}; }
fn term(share: vec4f, query: vec4f) -> vec4f { return ${term}; }
fn whole(sum: f32) -> f32 { return ${program === 'shared' ? 'sum' : '-0.5 * sum'}; }
`;
}

const times = (count: number, text: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => text(i)).join('\n');

/** Vectors that a lane of `best_of_many` looks at, and vectors of four sums that it keeps for each. */
const [rows, vectors] = [4, laneQueries / 4];
/** Vectors of four queries in a chunk, for one count. */
const chunkVectors = manyQueries / 4;

/** Every sum is a variable of its own, so that it is kept in a register. */
const manyCode = (): string => `
const LANE_ROWS = ROWS / ${rows};
const CHUNK = ${manyChunk}u;
// For each count the values of all queries, four in a vector.
var<workgroup> chunk: array<vec4f, CHUNK * ${chunkVectors}>;
var<workgroup> nearest: array<atomic<u32>, ${manyQueries}>;
// The largest of each ${summitFigures} figures of a query, in the order of whole numbers.
@group(0) @binding(6) var<storage, read_write> summits: array<atomic<u32>>;

@compute @workgroup_size(ROWS)
fn best_of_many(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  // Lanes of a subgroup share frames, so that these are read once, and queries, which are broadcast.
  let mine = lane / 8 % 4 * ${vectors};
  let row = lane % 8 + lane / 32 * 8;
  let at = (group.x * scan.stride + group.y * scan.words) * ROWS + row;
${times(rows, (j) => `  let scale${j} = scale_of(group.x * ROWS + row + ${j} * LANE_ROWS, group.y);`)}
${times(rows * vectors, (i) => `  var sum${i} = vec4f();`)}
  for (var begin = 0u; begin < scan.words; begin += CHUNK / (4 * QUADS)) {
    workgroupBarrier();
    for (var i = lane; i < CHUNK * ${chunkVectors}; i += ROWS) {
      chunk[i] = wanted[begin * 4 * QUADS * ${chunkVectors} + i];
    }
    workgroupBarrier();
    let words = min(CHUNK / (4 * QUADS), scan.words - begin);
    for (var w = 0u; w < words; w++) {
${times(rows, (j) => `      let word${j} = bins[at + (begin + w) * ROWS + ${j} * LANE_ROWS];`)}
      for (var k = 0u; k < QUADS; k++) {
${times(rows, (j) => `        let share${j} = share(quad(word${j}, k), scale${j});`)}
        let first = (w * QUADS + k) * 4 * ${chunkVectors} + mine;
${times(4, manyBin)}
      }
    }
  }
${times(rows * vectors, manyEnd)}
  workgroupBarrier();
  if (lane >= scan.queries) { return; }
  let bundles = scan.rows / ROWS;
  let figure = scan.base + group.y * bundles + group.x;
  let best = atomicLoad(&nearest[lane]);
  figures[lane * scan.total + figure] = from_ordered(best);
  atomicMax(&summits[lane * ((scan.total + ${summitFigures - 1}) / ${summitFigures}) + figure / ${summitFigures}], best);
}
`;

/** One bin of four vectors, for the queries of a lane. */
function manyBin(bin: number): string {
  const queries = times(vectors, (v) => `          let query${v} = chunk[first + ${bin * chunkVectors + v}];`);
  const sums = times(rows * vectors, (i) => {
    const [j, v] = [Math.floor(i / vectors), i % vectors];
    return `          sum${i} += term(vec4f(share${j}[${bin}]), query${v});`;
  });
  return `        {\n${queries}\n${sums}\n        }`;
}

/** Code that compares the figures of four sums with the nearest so far. */
function manyEnd(i: number): string {
  const [j, v] = [Math.floor(i / vectors), i % vectors];
  return times(4, (q) => {
    const figure = `whole(sum${i}[${q}])`;
    return `  atomicMax(&nearest[mine * 4 + ${4 * v + q}], ordered(select(NOTHING, ${figure}, scale${j} != 0)));`;
  });
}
