// A lane processes a chunk: it removes stuffed bytes and markers from the data. The reference is twin/destuff.ts.

@group(0) @binding(0) var<storage, read> files: array<File>;
@group(0) @binding(1) var<storage, read> bytes: array<u32>;
// Words of chunks: the first words of all chunks of a group side by side, then the second ones, so that neighbouring
// lanes read and write neighbouring words.
@group(0) @binding(2) var<storage, read_write> words: array<u32>;
// Bits 0 to 7: length. Bits 8 to 15: end. Bits 16 to 18: number of the first restart marker. Bit 24: isOdd. Then the
// marks.
@group(0) @binding(3) var<storage, read_write> chunks: array<vec4<u32>>;
// For each file its status, and the complement of the number of the chunk in which it ends, the first one with an end.
@group(0) @binding(4) var<storage, read_write> found: array<atomic<u32>>;

var<private> data: u32;
var<private> data_bytes: u32;
var<private> first_word: u32;

var<private> at: u32;
var<private> written: u32;
var<private> word: u32;
var<private> marks: vec3<u32>;
var<private> end: u32 = NO_END;
var<private> first_restart: u32;
var<private> restarts: u32;
var<private> odd: bool;

@compute @workgroup_size(GROUP_CHUNKS)
fn destuff(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let number = workgroup.y;
  let group = index_in_file(workgroup, workgroups);
  let chunk = group * GROUP_CHUNKS + lane;
  if (chunk >= files[number].chunks || files[number].data_file != number) {
    return;
  }
  data = files[number].data;
  data_bytes = files[number].data_bytes;
  let place = files[number].first_group + group;
  first_word = place * CHUNK_WORDS * GROUP_CHUNKS + lane;

  let start = chunk * CHUNK_BYTES;
  let until = min(start + CHUNK_BYTES, data_bytes);
  at = start;
  if (start > 0) {
    begin(start);
  }
  while (at < until && end == NO_END) {
    step();
  }
  let length = written;
  let far = min(until + MOST_AHEAD, data_bytes);
  while (at < far && end == NO_END && written < length + AHEAD_BYTES) {
    step();
  }
  odd |= end == NO_END && written < length + AHEAD_BYTES;
  // The rest of the last word, followed by zeros.
  for (var i = written / 4; i < CHUNK_WORDS; i++) {
    words[first_word + i * GROUP_CHUNKS] = word;
    word = 0;
  }
  chunks[place * GROUP_CHUNKS + lane] =
    vec4(length | (end << 8) | (first_restart << 16) | select(0u, 1u << 24, odd), marks);
  if (end <= length) {
    atomicMax(&found[2 * number + 1], ~chunk);
  }
}

fn byte_at(place: u32) -> u32 {
  if (place >= data_bytes) {
    return 0;
  }
  let byte = data + place;
  return (bytes[byte / 4] >> (8 * (byte % 4))) & 255;
}

// A marker belongs to the chunk of the byte after it.
fn begin(start: u32) {
  let before = byte_at(start - 1);
  let code = byte_at(start);
  if (byte_at(start - 2) == 255 && is_restart(before)) {
    add_restart(before);
  }
  if (before != 255 || code == 255) {
    return;
  }
  if (is_restart(code)) {
    add_restart(code);
  }
  at++;
}

fn step() {
  let byte = byte_at(at);
  if (byte != 255) {
    put(byte);
    at++;
    return;
  }
  let code = byte_at(at + 1);
  if (code == 255) {
    at++;
    return;
  }
  at += 2;
  if (code == 0) {
    put(byte);
  } else if (is_restart(code)) {
    add_restart(code);
  } else {
    odd |= code != END_OF_IMAGE;
    add_mark();
    end = written;
  }
}

fn put(byte: u32) {
  word |= byte << (24 - 8 * (written % 4));
  if (written % 4 == 3) {
    words[first_word + (written / 4) * GROUP_CHUNKS] = word;
    word = 0;
  }
  written++;
}

fn is_restart(code: u32) -> bool {
  return code >= 0xd0 && code <= 0xd7;
}

fn add_restart(code: u32) {
  if (restarts == 0) {
    first_restart = code & 7;
  }
  odd |= ((first_restart + restarts) & 7) != (code & 7);
  restarts++;
  add_mark();
}

fn add_mark() {
  let bit = 1u << (written % 32);
  odd |= (marks[written / 32] & bit) != 0;
  marks[written / 32] |= bit;
}
