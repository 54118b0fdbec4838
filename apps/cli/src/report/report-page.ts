import { createHash } from 'node:crypto';
import { describeMended, describeReason, shownPath } from '@halogrid/console/words/sentences.js';
import { specRows } from '@halogrid/console/words/spec-rows.js';
import { describePipeline } from '@halogrid/kernels';
import { specPipelines } from '../options/spec-pipelines.ts';
import { describePixels, describeSeconds, plural } from '../progress/quantities.ts';
import { Html, html } from './html.ts';
import type { JobReport, Preview, ReportPart } from './read-report.ts';

/** Rows that a table has at most. */
const maxRows = 500;

/** The page of a report as one HTML file that loads nothing else; `style` is its CSS. */
export function reportPage(report: JobReport, style: string): string {
  const { job, parts } = report;
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = `default-src 'none'; img-src data:; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Job ${job.id} · halogrid</title>
<style>${new Html(style)}</style>
</head>
`;
  const body = html`<body>
<header><h1>Job ${job.id}</h1><p class="${job.state === 'complete' ? 'good' : 'bad'}">${job.state}</p></header>
${job.error ? html`<p class="error">${job.error}</p>` : ''}
${tiles(report)}
${(job.notes ?? []).map((note) => html`<p class="waiting">${note}</p>`)}
<main>
${section('Parameters', rows(specRows(job.specification, asked(report))))}
${section('Result', rows(results(report)))}
${parts.map((part) => partSection(part, parts.length > 1))}
${quarantined(report)}
${section('Remarks', list((job.mended ?? []).map(describeMended)))}
${section('Nodes', nodes(report))}
${section('Seconds by stage, summed over nodes', rows(stages(report)))}
</main>
</body>
</html>
`;
  return head.text + body.text;
}

const section = (title: string, content: Html | undefined): Html =>
  content ? html`<section><h2>${title}</h2>${content}</section>` : html``;

function tiles({ job }: JobReport): Html {
  const { counts, wallSeconds } = job;
  const facts: [name: string, value: string][] = [
    ['Sources', counts.sources.toLocaleString('en')],
    ['Merged', counts.frames.toLocaleString('en')],
    ['Quarantined', counts.quarantined.toLocaleString('en')],
    ['Pixels', describePixels(counts.pixels)],
    ...(wallSeconds === undefined ? [] : [['Time', describeSeconds(wallSeconds)] satisfies [string, string]]),
  ];
  return html`<dl class="tiles">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The kernels of each pipeline as --op takes them; only their names if this version does not know them. */
function asked({ job: { specification } }: JobReport): { name: string; operations: string[] }[] {
  try {
    return specPipelines(specification).map(({ name, pipeline }) => ({
      name,
      operations: [describePipeline(pipeline)],
    }));
  } catch {
    const named = specification.pipelines?.named ?? [{ name: '', pipeline: specification.pipeline }];
    return named.map(({ name, pipeline }) => ({
      name,
      operations: (pipeline?.operations ?? []).map(({ kernel }) => kernel),
    }));
  }
}

function results({ job }: JobReport): [string, string[]][] {
  const { rows: down = 1, columns: across = 1 } = job.specification.grid ?? {};
  const given: [string, string | undefined | false][] = [
    ['digest', job.digest],
    ['convention', job.convention],
    ['grid', down * across > 1 && `${down} × ${across} cells; features.parquet has the histogram of each`],
    ['shards', `${job.counts.shards} in ${plural(job.counts.attempts, 'attempt')}`],
    ['submitted', job.submitted],
    ['finished', job.finished],
    ['written by', job.version && `halogrid ${job.version}, results version ${job.resultsVersion}`],
  ];
  const parts = (job.pipelines ?? []).map(({ name, digest, convention }): [string, string[]] => [
    `digest of ${name}`,
    [digest, convention],
  ]);
  return [...given.flatMap(([name, value]): [string, string[]][] => (value ? [[name, [value]]] : [])), ...parts];
}

function stages({ job: { seconds = {} } }: JobReport): [string, string[]][] {
  return Object.entries(seconds)
    .filter(([, spent]) => spent > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([stage, spent]) => [stage, [describeSeconds(spent)]]);
}

function rows(all: readonly [name: string, values: string[]][]): Html | undefined {
  if (all.length === 0) return undefined;
  const lines = all.map(
    ([name, values]) =>
      html`<tr><th scope="row">${name}</th><td class="wrap">${values.map((value) => html`<div>${value}</div>`)}</td></tr>`,
  );
  return html`<div class="scroll"><table><tbody>${lines}</tbody></table></div>`;
}

const list = (lines: readonly string[]): Html | undefined =>
  lines.length > 0 ? html`<ul>${lines.map((line) => html`<li class="wrap">${line}</li>`)}</ul>` : undefined;

function partSection({ name, chart, previews, leftOut, uris }: ReportPart, isNamed: boolean): Html {
  const title = isNamed ? `Pipeline ${name}` : 'Histogram';
  const picture = chart
    ? html`<div class="scroll chart"><img alt="Histogram" src="${dataUri('svg+xml', chart)}"></div>`
    : '';
  const left = leftOut > 0 ? html`<p class="inputs">${plural(leftOut, 'more preview')} in the folder.</p>` : '';
  const shown = previews.map((preview) => pair(preview, uris.get(preview.name)));
  if (!chart && previews.length === 0) return html``;
  return html`<section><h2>${title}</h2>${picture}${shown.length > 0 ? html`<h3>Sources and maps</h3><div class="pairs">${shown}</div>` : ''}${left}</section>`;
}

function pair({ name, map, source }: Preview, uri: string | undefined): Html {
  const image = (bytes: Buffer | undefined, type: string, what: string) =>
    bytes ? html`<img alt="${what} of ${name}" src="${dataUri(type, bytes)}">` : '';
  return html`<figure><div>${image(source, 'jpeg', 'Source')}${image(map, 'png', 'Map')}</div><figcaption>${uri ? shownPath(uri) : name}</figcaption></figure>`;
}

const dataUri = (type: string, bytes: Buffer): string => `data:image/${type};base64,${bytes.toString('base64')}`;

function quarantined({ job, quarantined: inputs }: JobReport): Html {
  const { quarantined: count } = job.counts;
  if (count === 0) return html``;
  const shown = inputs.slice(0, maxRows);
  const lines = shown.map(
    ({ uri, stage, error }) =>
      html`<tr><td class="wrap">${shownPath(uri)}</td><td>${stage}</td><td class="wrap">${error}</td></tr>`,
  );
  const more = count > shown.length ? html`<p class="inputs">errors.jsonl lists all ${count}.</p>` : '';
  const table = html`<div class="scroll"><table><thead><tr><th scope="col">Input</th><th scope="col">Stage</th><th scope="col">Why</th></tr></thead><tbody>${lines}</tbody></table></div>`;
  return section('Quarantined inputs', html`${list((job.quarantine ?? []).map(describeReason)) ?? ''}${table}${more}`);
}

function nodes({ job }: JobReport): Html | undefined {
  if (!job.nodes?.length) return undefined;
  const lines = job.nodes.map(
    ({ name, device, shards }) =>
      html`<tr><td>${name}</td><td class="wrap">${device}</td><td class="number">${shards}</td></tr>`,
  );
  return html`<div class="scroll"><table><thead><tr><th scope="col">Node</th><th scope="col">Device</th><th scope="col" class="number">Shards</th></tr></thead><tbody>${lines}</tbody></table></div>`;
}
