import { openSlideVersion } from '@halogrid/imaging/openslide-version';

/** Whether slides of vendors can be read here: OpenSlide's version and library, or one sentence with a remedy. */
export type SlideFinding = { works: true; openslide: string; library: string } | { works: false; reason: string };

/** Loads OpenSlide in a process of its own, as for reading. */
export async function probeSlides(): Promise<SlideFinding> {
  try {
    const { version, library } = await openSlideVersion();
    return { works: true, openslide: version, library };
  } catch (error) {
    return { works: false, reason: (error as Error).message };
  }
}

/** The finding for people. */
export const describeSlides = (slides: SlideFinding): string =>
  slides.works
    ? `work: OpenSlide ${slides.openslide}, ${slides.library}`
    : `no: ${slides.reason.replace(/^Slides cannot be read here: /, '')}`;
