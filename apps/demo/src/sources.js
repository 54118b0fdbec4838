/** Reads the pixels of a picture or of a frame of a video. */
class Reader {
  #canvas = document.createElement('canvas');
  #context = /** @type {CanvasRenderingContext2D} */ (this.#canvas.getContext('2d', { willReadFrequently: true }));

  /** @param {CanvasImageSource} source @param {number} width @param {number} height */
  read(source, width, height) {
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    this.#context.drawImage(source, 0, 0);
    return this.#context.getImageData(0, 0, width, height);
  }
}

/**
 * Decodes a picture file, with its colours unchanged. Rejects with a sentence. @param {Blob} blob @param {string} name
 */
export async function openPicture(blob, name) {
  const bitmap = await createImageBitmap(blob, { colorSpaceConversion: 'none', premultiplyAlpha: 'none' }).catch(() => {
    throw new Error(`${name} is not a picture that this browser can read.`);
  });
  try {
    return new Reader().read(bitmap, bitmap.width, bitmap.height);
  } finally {
    bitmap.close();
  }
}

/**
 * Opens the camera, and gives frames to `take`, one at a time. Frames that come while `take` works are skipped. Rejects
 * with a sentence.
 *
 * @param {(frame: ImageData) => Promise<void>} take
 * @returns {Promise<() => void>} a function that closes the camera
 */
export async function openCamera(take) {
  if (!navigator.mediaDevices) throw new Error('The camera needs a page of https or localhost.');
  const wanted = { video: { width: { ideal: 1280 }, height: { ideal: 720 } } };
  const stream = await navigator.mediaDevices.getUserMedia(wanted).catch((error) => {
    throw new Error(`The camera cannot be used: ${error.message}.`);
  });
  const video = document.createElement('video');
  Object.assign(video, { srcObject: stream, muted: true, playsInline: true });
  const reader = new Reader();
  let isOpen = true;
  const next = () => {
    video.requestVideoFrameCallback(async () => {
      if (!isOpen) return;
      await take(reader.read(video, video.videoWidth, video.videoHeight));
      next();
    });
  };
  next();
  await video.play();
  return () => {
    isOpen = false;
    for (const track of stream.getTracks()) track.stop();
  };
}
