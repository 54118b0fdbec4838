import type { SheetRow } from '@halogrid/results/contact-sheet';
import type { Evaluation } from '@halogrid/search';
import { table } from '@halogrid/service/text-table';

/** What `evaluate --json` prints; part of the program's interface. */
export interface EvaluationReport {
  /** The name that --pipeline gives the pipeline. */
  name?: string;
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

export function reportOf(
  found: Evaluation,
  how: Pick<EvaluationReport, 'name' | 'pipeline' | 'grid' | 'distance'>,
): EvaluationReport {
  const { images, classes, threshold, tpr, fpr, tp, fn, fp, tn, auc } = found;
  const rates = {
    recognition_rate: found.recognitionRate,
    map: found.meanAveragePrecision,
    precision_at: found.precisionAt,
  };
  return { ...how, images, classes, threshold, tpr, fpr, tp, fn, fp, tn, auc, ...rates };
}

/**
 * The reports as text. One report is shown in full. Several are shown as two tables: what is found again, and
 * thresholds in the layout of table 5 of the fourth report. Rows begin with what differs between reports.
 */
export function describeReports(reports: readonly EvaluationReport[]): string {
  const [first] = reports;
  if (reports.length === 1) return describeReport(first!);
  const facts = reports.map(({ name, pipeline, grid, distance }) => ({ pipeline: name ?? pipeline, grid, distance }));
  const keys = ['pipeline', 'grid', 'distance'] as const;
  const differ = keys.filter((key) => facts.some((one) => one[key] !== facts[0]![key]));
  const names = (i: number): string[] => differ.map((key) => facts[i]![key]);
  const rates = reports.map((report, i) => [
    ...names(i),
    ...[report.recognition_rate, report.map, report.precision_at[5]!, report.auc].map((rate) => rate.toFixed(4)),
  ]);
  const thresholds = reports.map((report, i) => [
    ...names(i),
    report.threshold.toFixed(4),
    ...[report.tp, report.fn, report.fp, report.tn].map(String),
    ...[report.tpr, report.fpr].map((rate) => rate.toFixed(4)),
  ]);
  const common = keys.filter((key) => !differ.includes(key)).map((key) => `${key} ${facts[0]![key]}`);
  return `${first!.images} images of ${first!.classes} classes, each compared with all others${common.map((one) => `; ${one}`).join('')}.
${table([[...differ, 'recognised', 'MAP', 'P at 5', 'AUC'], ...rates], '  ')}
Nearest to (0, 1):
${table([[...differ, 'threshold', 'TP', 'FN', 'FP', 'TN', 'TPR', 'FPR'], ...thresholds], '  ')}`;
}

function describeReport(report: EvaluationReport): string {
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

/**
 * Rows of a contact sheet: the first image of some classes, which are spread over all, and the five images most like
 * it.
 */
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
        title: `${label}: the query and the images most like it`,
        tiles: [{ shown: { uri }, caption: ['query', label] }, ...tiles],
      };
    });
}
