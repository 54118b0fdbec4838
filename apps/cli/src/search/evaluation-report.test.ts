import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeReports, type EvaluationReport } from './evaluation-report.ts';

const report: EvaluationReport = {
  pipeline: 'ldp:order=3 border=interior',
  grid: '1x1',
  distance: 'intersection',
  images: 1000,
  classes: 10,
  // A row of the fourth report for a query to the Corel set.
  tp: 41,
  fn: 11,
  fp: 322,
  tn: 626,
  tpr: 41 / 52,
  fpr: 322 / 948,
  threshold: 0.75,
  auc: 0.8,
  recognition_rate: 0.9,
  map: 0.5,
  precision_at: { 1: 0.9, 5: 0.7, 10: 0.6 },
};

test('several evaluations are a row each, which begins with what differs', () => {
  const others = [report, { ...report, distance: 'chi2', tp: 40, fn: 12, tpr: 40 / 52, map: 0.4 }];
  assert.equal(
    describeReports(others),
    `1000 images of 10 classes, each compared with all others; pipeline ldp:order=3 border=interior; grid 1x1.
  distance      recognised  MAP     P at 5  AUC
  intersection  0.9000      0.5000  0.7000  0.8000
  chi2          0.9000      0.4000  0.7000  0.8000

Nearest to (0, 1):
  distance      threshold  TP  FN  FP   TN   TPR     FPR
  intersection  0.7500     41  11  322  626  0.7885  0.3397
  chi2          0.7500     40  12  322  626  0.7692  0.3397
`,
  );
});

test('pipelines go by their names', () => {
  const text = describeReports([
    { ...report, name: 'third' },
    { ...report, name: 'second', pipeline: 'ldp:order=2 border=interior', grid: '2x2' },
  ]);
  assert.match(text, /^ {2}third +1x1 +0\.9000 /m);
  assert.match(text, /^ {2}second +2x2 +0\.7500 +41 /m);
});
