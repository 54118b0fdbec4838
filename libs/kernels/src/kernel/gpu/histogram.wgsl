// Comes after item.wgsl if results are counted; otherwise no-histogram.wgsl takes its place.
//
// A workgroup counts in its own histograms, in workgroup memory, and adds them to the item's once at its end. COPIES
// such histograms are interleaved, so that fewer lanes wait for the same address when they meet in a bin.

// Bins of an item, for all channels that are counted together.
override BINS: u32 = 256;
// Bins FIRST_PRIVATE … FIRST_PRIVATE + PRIVATE_BINS - 1 are counted so, the others directly in the item's histogram.
override FIRST_PRIVATE: u32 = 0;
override PRIVATE_BINS: u32 = BINS;
override COPIES: u32 = 1;

@group(0) @binding(2) var<storage, read_write> histograms: array<atomic<u32>>;

override COUNTERS: u32 = max(1, PRIVATE_BINS * COPIES);
var<workgroup> counters: array<atomic<u32>, COUNTERS>;

// Counts `times` results of one bin. `histogram` is the index of the item's histogram, `local` the lane's index in its
// group.
fn count(histogram: u32, local: u32, bin: u32, times: u32) {
  let own = bin - FIRST_PRIVATE;
  // If all bins are private, the compiler knows, and leaves the other branch out.
  if (PRIVATE_BINS == BINS || own < PRIVATE_BINS) {
    atomicAdd(&counters[own * COPIES + local % COPIES], times);
  } else {
    atomicAdd(&histograms[histogram * BINS + bin], times);
  }
}

// Counts the four bytes of a word, from bin `first` on. Four equal ones, usual in flat areas, take one addition.
fn count_bytes(histogram: u32, local: u32, first: u32, bytes: u32) {
  let byte = bytes & 0xff;
  if (bytes == byte * 0x01010101u) {
    count(histogram, local, first + byte, 4);
  } else {
    count(histogram, local, first + byte, 1);
    count(histogram, local, first + ((bytes >> 8) & 0xff), 1);
    count(histogram, local, first + ((bytes >> 16) & 0xff), 1);
    count(histogram, local, first + (bytes >> 24), 1);
  }
}

// Takes back counts that should not have been made. The count may fall below 0 here, and counts of other workgroups
// make up for it: sums wrap around.
fn uncount(histogram: u32, local: u32, bin: u32, times: u32) {
  count(histogram, local, bin, 0 - times);
}

// As add_counts, but if the workgroup is the only one of its item, its counts are stored and not added. `groups` is the
// number of workgroups. Measured on an H200 for LDP of 65,536 cells of 16 x 16: 1.06 ms, with additions 1.37.
fn put_counts(histogram: u32, local: u32, lanes: u32, groups: vec3<u32>) {
  if (groups.x * groups.y > 1 || PRIVATE_BINS != BINS) {
    add_counts(histogram, local, lanes);
    return;
  }
  workgroupBarrier();
  for (var bin = local; bin < BINS; bin += lanes) {
    atomicStore(&histograms[histogram * BINS + bin], own_count(bin));
  }
}

// The count of a private bin in this workgroup.
fn own_count(own: u32) -> u32 {
  var sum = 0u;
  for (var copy = 0u; copy < COPIES; copy++) {
    sum += atomicLoad(&counters[own * COPIES + copy]);
  }
  return sum;
}

// Adds the counts of a workgroup of `lanes` lanes to the item's histogram. All lanes call it, at the end.
fn add_counts(histogram: u32, local: u32, lanes: u32) {
  if (PRIVATE_BINS == 0) {
    return;
  }
  workgroupBarrier();
  for (var bin = local; bin < PRIVATE_BINS; bin += lanes) {
    let sum = own_count(bin);
    if (sum != 0) {
      atomicAdd(&histograms[histogram * BINS + FIRST_PRIVATE + bin], sum);
    }
  }
}
