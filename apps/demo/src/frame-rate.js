/** Frames per second, measured over the last second. */
export class FrameRate {
  /** @type {number[]} */
  #times = [];

  /**
   * Adds a frame that was done at that time. @param {number} nowMs @returns {number} frames a second; 0 until two
   * frames are known
   */
  add(nowMs) {
    this.#times = [...this.#times.filter((ms) => nowMs - ms <= 1000), nowMs];
    const passed = nowMs - /** @type {number} */ (this.#times[0]);
    return passed > 0 ? ((this.#times.length - 1) * 1000) / passed : 0;
  }

  clear() {
    this.#times = [];
  }
}
