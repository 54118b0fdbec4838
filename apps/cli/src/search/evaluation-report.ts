import type { SheetRow } from '@halogrid/results/contact-sheet';
import type { Evaluation } from '@halogrid/search';
import { table } from '@halogrid/service/text-table';

/** What `evaluate --json` prints; part of the program's interface. */
export interface Report {
  pipeline: string;
  grid: string;
  distance: string;
  images: number;
  classes: number;
  threshold: number;
  tpr: number;
  fpr: number;
  tp: number;
  fn: number;
  fp: number;
  tn: number;
  auc: number;
  recognition_rate: number;
  map: number;
  precision_at: Record<number, number>;
}

export function reportOf(found: Evaluation, how: Pick<Report, 'pipeline' | 'grid' | 'distance'>): Report {
  const { images, classes, threshold, tpr, fpr, tp, fn, fp, tn, auc } = found;
  const rates = {
    recognition_rate: found.recognitionRate,
    map: found.meanAveragePrecision,
    precision_at: found.precisionAt,
  };
  return { ...how, images, classes, threshold, tpr, fpr, tp, fn, fp, tn, auc, ...rates };
}

/** How well one pipeline tells classes apart. */
export interface Evaluated {
  /** Empty where it is the only one, without a name. */
  name: string;
  report: Report;
  evaluation: Evaluation;
}

/** What `evaluate --json` prints: of named pipelines a report of each, with its name. */
export function reportsOf(evaluated: readonly Evaluated[]): Report | (Report & { name: string })[] {
  const [first] = evaluated;
  return first?.name === '' ? first.report : evaluated.map(({ name, report }) => ({ name, ...report }));
}

/** What a person reads: of named pipelines a row of each. */
export function describeReports(evaluated: readonly Evaluated[]): string {
  const [{ name, report }] = evaluated as [Evaluated];
  if (name === '') return describeReport(report);
  const rows = evaluated.map(({ name, report: { images, recognition_rate, map, auc, tpr, fpr, threshold } }) => {
    const rates = [recognition_rate, map, auc, tpr, fpr, threshold].map((rate) => rate.toFixed(4));
    return [name, String(images), ...rates];
  });
  const head = ['pipeline', 'images', 'recog.', 'MAP', 'AUC', 'TPR', 'FPR', 'threshold'];
  const pipelines = evaluated.map(({ name, report }) => [name, report.pipeline]);
  return (
    `${report.classes} classes, each image compared with all others by ${report.distance}, grid ${report.grid}.\n` +
    `${table([head, ...rows], '  ')}\n${table(pipelines, '  ')}`
  );
}

/** What a person reads of one. */
function describeReport(report: Report): string {
  const { images, classes, pipeline, grid, distance, threshold, tpr, fpr, tp, fn, fp, tn } = report;
  const precisions = Object.entries(report.precision_at).map(([rank, share]) => `${share.toFixed(4)} at ${rank}`);
  const rows = [
    ['pipeline', `${pipeline}, grid ${grid}`],
    ['distance', distance],
    ['recognition rate', `${report.recognition_rate.toFixed(4)} (leave one out)`],
    ['mean average precision', report.map.toFixed(4)],
    ['precision', precisions.join(', ')],
    ['area below the ROC', report.auc.toFixed(4)],
    ['nearest to (0, 1)', `TPR ${tpr.toFixed(4)}, FPR ${fpr.toFixed(4)} at ${threshold}`],
    ['', `TP ${tp}, FN ${fn}, FP ${fp}, TN ${tn}`],
  ];
  return `${images} images of ${classes} classes, each compared with all others.\n${table(rows, '  ')}`;
}

const rowsOfSheet = 12;

/** Rows of a contact sheet: the first image of some classes, spread over them, and the five that are most like each. */
export function evaluationRows({ best }: Evaluation): SheetRow[] {
  const firsts = [...Map.groupBy(best, ({ label }) => label).values()].map((images) => images[0]!);
  const step = Math.max(1, Math.floor(firsts.length / rowsOfSheet));
  return firsts
    .filter((_, i) => i % step === 0)
    .slice(0, rowsOfSheet)
    .map(({ uri, label, others }) => {
      const tiles = others.map(({ image, score }, i) => ({
        shown: { uri: best[image]!.uri },
        caption: [
          `${i + 1}. ${score.toFixed(6)}`,
          `${best[image]!.label}${best[image]!.label === label ? '' : ' (another class)'}`,
        ],
      }));
      return {
        title: `${label}: the query, and those most like it`,
        tiles: [{ shown: { uri }, caption: ['query', label] }, ...tiles],
      };
    });
}
