// Comes before every pass, after the constants of frame/*.ts: files, and the position of a workgroup in a file.
//
// Workgroups are counted by file in y, and within a file by x, then z, because a direction allows only 65,535.

struct File {
  data: u32,            // byte of the batch that the entropy-coded data begins at
  data_bytes: u32,
  chunks: u32,
  first_group: u32,     // among the groups of the batch
  groups: u32,
  blocks: u32,          // of all components
  restart_blocks: u32,  // between two restart markers; 0: there are none
  mcu_blocks: u32,
  luma_across: u32,     // blocks of luma in an MCU
  luma_down: u32,
  mcus_across: u32,
  tables: u32,          // word of the first Huffman table
  table_count: u32,
  dc_tables: u32,       // of each block of an MCU, two bits each
  ac_tables: u32,
  quantisers: u32,      // word of the first quantiser
  entries: u32,         // word of the first coefficient
  most_entries: u32,
  starts: u32,          // word of the starts of groups of blocks
  block_groups: u32,
  plane: u32,           // of the first pixel, in 8 pixels
  stride: u32,          // from row to row, in 8 pixels
  width: u32,
  height: u32,
  luma_first: u32,      // blocks of an MCU before its luma
  skipped_mcus: u32,    // in front of the first pixel
  first_restart: u32,   // the number of its first restart marker
  data_file: u32,       // the file whose chunks it uses: itself, or an earlier one if it is a component of that
}

// Counts of a part of the data since its last restart marker; restarts and entries are counted from its beginning.
struct Counts {
  restarts: u32,
  blocks: u32,
  dc: u32,
  entries: u32,
}

struct Group {
  // The state at its end, by the parity of the pass that found it.
  exits: array<u32, 2>,
  unused: array<u32, 2>,
  total: Counts,
  before: Counts,
}

// The results for a chunk: the state it was decoded from, the state at its end, its restarts (bits 0 to 5), blocks
// (bits 6 to 15) and entries (from bit 16 on), and the sum of DC differences.
struct Decoded {
  entry: u32,
  exit: u32,
  counts: u32,
  dc: u32,
  before: Counts,       // in its group
}

fn index_in_file(workgroup: vec3<u32>, workgroups: vec3<u32>) -> u32 {
  return workgroup.z * workgroups.x + workgroup.x;
}

fn unpack_counts(packed: u32, dc: u32) -> Counts {
  return Counts(packed & 63, (packed >> 6) & 1023, dc, packed >> 16);
}

fn add_counts(a: Counts, b: Counts) -> Counts {
  let same = b.restarts == 0;
  return Counts(
    a.restarts + b.restarts,
    b.blocks + select(0u, a.blocks, same),
    b.dc + select(0u, a.dc, same),
    a.entries + b.entries,
  );
}

// The group whose chunks group `in_file` of a file uses.
fn data_group(file: u32, in_file: u32) -> u32 {
  return files[files[file].data_file].first_group + in_file;
}
