// The command line of every program of this folder: --NAME VALUE, lists with commas; and the words in it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

/** Exit states: a result that differs or a call that failed, and wrong usage. */
constexpr int failed = 1;
constexpr int wrongUsage = 2;

[[noreturn]] inline void fail(int state, const std::string& sentence) {
  std::fprintf(stderr, "%s\n", sentence.c_str());
  std::exit(state);
}

struct Size {
  int width;
  int height;
  std::size_t pixels() const { return static_cast<std::size_t>(width) * height; }
  std::string name() const { return std::to_string(width) + "x" + std::to_string(height); }
};

/** The shape of a thread block; one thread a pixel. */
struct Block {
  int width;
  int height;
  dim3 threads() const { return dim3(width, height); }
  dim3 grid(Size size) const { return dim3((size.width + width - 1) / width, (size.height + height - 1) / height); }
  std::string name() const { return std::to_string(width) + "x" + std::to_string(height); }
};

/** No side of a block is longer: the tiles in shared memory are sized for it. */
constexpr int maxBlockSide = 32;
/** No side of an image is longer: the kernels index three samples a pixel with an int. */
constexpr int maxImageSide = 16384;

class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int i = 1; i < argc; i += 2) {
      const std::string name = argv[i];
      if (name.rfind("--", 0) != 0 || i + 1 == argc) {
        fail(wrongUsage, "Expected --NAME VALUE but received '" + name + "'.");
      }
      given[name.substr(2)] = argv[i + 1];
    }
  }

  int integer(const std::string& name, int fallback, int least, int most) {
    const std::string text = take(name, std::to_string(fallback));
    const int value = parse(text);
    if (value < least || value > most) {
      refuse("an integer in " + std::to_string(least) + "..." + std::to_string(most), name, text);
    }
    return value;
  }

  std::string word(const std::string& name) { return take(name, ""); }

  std::vector<std::string> list(const std::string& name, const std::string& fallback) {
    const std::string text = take(name, fallback);
    std::vector<std::string> words;
    for (std::size_t start = 0, comma; start <= text.size(); start = comma + 1) {
      comma = std::min(text.find(',', start), text.size());
      words.push_back(text.substr(start, comma - start));
    }
    return words;
  }

  /** Some of the words of `all`; all of them where none are named. */
  std::vector<std::string> choices(const std::string& name, const std::string& all) {
    const std::vector<std::string> allowed = list("", all);
    const std::vector<std::string> words = list(name, all);
    for (const std::string& word : words) {
      if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) refuse("some of " + all, name, word);
    }
    return words;
  }

  /** Sizes of images: WIDTHxHEIGHT, or SIDE for a square. */
  std::vector<Size> sizes(const std::string& fallback) {
    std::vector<Size> sizes;
    for (const std::string& word : list("sizes", fallback)) {
      const auto [width, height] = parsePair(word);
      if (std::min(width, height) < 1 || std::max(width, height) > maxImageSide) {
        refuse("SIDE or WIDTHxHEIGHT in 1..." + std::to_string(maxImageSide), "sizes", word);
      }
      sizes.push_back({width, height});
    }
    return sizes;
  }

  /** Shapes of blocks: WIDTHxHEIGHT, or SIDE for a square. */
  std::vector<Block> blocks(const std::string& fallback) {
    std::vector<Block> blocks;
    for (const std::string& word : list("blocks", fallback)) {
      const auto [width, height] = parsePair(word);
      if (std::min(width, height) < 1 || std::max(width, height) > maxBlockSide) {
        refuse("SIDE or WIDTHxHEIGHT in 1..." + std::to_string(maxBlockSide), "blocks", word);
      }
      blocks.push_back({width, height});
    }
    return blocks;
  }

  /** To be called once every argument has been asked for, before anything runs. */
  void expectAllRead() const {
    if (!given.empty()) fail(wrongUsage, "There is no argument --" + given.begin()->first + ".");
  }

  [[noreturn]] static void refuse(const std::string& allowed, const std::string& name, const std::string& value) {
    fail(wrongUsage, "Expected " + allowed + " for --" + name + " but received '" + value + "'.");
  }

 private:
  std::map<std::string, std::string> given;

  std::string take(const std::string& name, const std::string& fallback) {
    const auto found = given.find(name);
    if (found == given.end()) return fallback;
    const std::string value = found->second;
    given.erase(found);
    return value;
  }

  /** A number of one to nine digits; -1 for anything else. */
  static int parse(const std::string& text) {
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return -1;
    return std::atoi(text.c_str());
  }

  static std::pair<int, int> parsePair(const std::string& text) {
    const std::size_t x = text.find('x');
    if (x == std::string::npos) return {parse(text), parse(text)};
    return {parse(text.substr(0, x)), parse(text.substr(x + 1))};
  }
};

inline bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/** `--host-check` alone: the program checks its CPU loops against results worked out by hand and touches no GPU. */
inline bool isHostCheck(int argc, char** argv) { return argc == 2 && std::strcmp(argv[1], "--host-check") == 0; }
