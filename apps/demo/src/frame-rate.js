/** Frames a second, of the frames of the last second. */
export class FrameRate {
  /** @type {number[]} */
  #times = [];

  /**
   * A frame is done at that time. @param {number} nowMs @returns {number} frames a second; 0 until two frames are known
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
