import { join } from 'node:path';
import { contactSheet } from '@halogrid/results/contact-sheet';
import { rocSvg } from '@halogrid/results/roc-svg';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import { makeFolders } from '@halogrid/service/make-folders';
import { type Evaluated, evaluationRows, reportsOf } from './evaluation-report.ts';

/** Writes the reports, the curve and the sheet of each into `out`, and resolves to a sentence that says so. */
export async function writeEvaluations(out: string, evaluated: readonly Evaluated[]): Promise<string> {
  for (const one of evaluated) await writeEvaluation(join(out, one.name), one);
  const files = 'evaluation.json, roc.svg and top-5.png';
  if (evaluated[0]?.name === '') return `Written: ${files} in ${out}.`;
  await writeJson(out, reportsOf(evaluated));
  return `Written: evaluation.json in ${out}, and ${files} in a folder of it for each pipeline.`;
}

async function writeEvaluation(out: string, { report, evaluation }: Evaluated): Promise<void> {
  await makeFolders(out);
  const subtitle = [
    report.pipeline,
    `grid ${report.grid}, ${report.distance}; area below the curve ${report.auc.toFixed(4)}`,
  ];
  const title = `${report.images} images of ${report.classes} classes`;
  await writeJson(out, report);
  await writeFileAtomically(join(out, 'roc.svg'), rocSvg({ title, subtitle, points: evaluation.roc, best: report }));
  await writeFileAtomically(join(out, 'top-5.png'), await contactSheet(evaluationRows(evaluation)));
}

const writeJson = (out: string, value: object): Promise<void> =>
  writeFileAtomically(join(out, 'evaluation.json'), `${JSON.stringify(value, null, 2)}\n`);
