import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { CancelResponse, JobSpec, ListResponse, SubmitResponse, WatchResponse } from '@halogrid/proto';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import { within } from '@halogrid/testing';
import { build } from 'esbuild';
import { generate } from 'openapi-typescript-codegen';
import { setStage, writeImages } from '../../testing/coordinator-stage.ts';

interface Operation {
  operationId: string;
  parameters?: { name: string; description?: string }[];
}
interface Description {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, { required?: string[]; properties: Record<string, { description?: string }> }>;
  };
}

async function setApi(t: TestContext) {
  const stage = await setStage(t);
  const api = `http://127.0.0.1:${stage.coordinator.httpPort}/api/v1`;
  const description = (await (await fetch(`${api}/openapi.json`)).json()) as Description;
  return { ...stage, api, description };
}

/** The client that a foreign generator makes from the description, with an address to call. */
interface GeneratedClient {
  OpenAPI: { BASE: string };
  DefaultService: {
    submitJob(spec: { sources: string[]; op?: string[]; out?: string }): Promise<SubmitResponse>;
    listJobs(state?: string[], since?: string, limit?: number): Promise<ListResponse>;
    watchJob(id: string): Promise<string>;
    cancelJob(id: string, body: object): Promise<CancelResponse>;
    planJob(spec: Partial<JobSpec>): Promise<unknown>;
  };
}

async function generateClient(t: TestContext, description: object): Promise<GeneratedClient> {
  const folder = await temporaryFolder(t);
  const output = join(folder, 'client');
  await generate({ input: structuredClone(description), output, useUnionTypes: true });
  const outfile = join(folder, 'client.mjs');
  await build({ entryPoints: [join(output, 'index.ts')], outfile, bundle: true, format: 'esm', logLevel: 'silent' });
  return import(pathToFileURL(outfile).href);
}

test('a client that another program makes from the description submits, lists, watches and cancels', async (t) => {
  const { api, description, folder } = await setApi(t);
  const { OpenAPI, DefaultService: client } = await generateClient(t, description);
  OpenAPI.BASE = api;
  const sources = await writeImages(folder, 2);
  const { job } = await client.submitJob({ sources, op: ['lbp:labels=uniform'], out: join(folder, 'out') });
  assert.deepEqual(job!.asked, [{ name: '', operations: ['lbp:labels=uniform'] }]);
  const { jobs, leftOut } = await client.listJobs(['pending', 'running'], '1h', 5);
  assert.deepEqual([jobs.map(({ jobId }) => jobId), leftOut], [[job!.jobId], 0]);
  const watched = client.watchJob(job!.jobId.slice(-6));
  const cancelled = await client.cancelJob(job!.jobId, {});
  assert.equal(cancelled.job!.state, 'JOB_STATE_CANCELLED');
  const events = (await within('the end of the events', watched)).trim().split('\n\n');
  const [id, data] = events.at(-1)!.split('\n');
  assert.equal(id, 'id: end');
  const { job: told } = JSON.parse(data!.replace('data: ', '')) as WatchResponse;
  assert.deepEqual([told!.jobId, told!.state], [job!.jobId, cancelled.job!.state]);
  await assert.rejects(client.planJob({ sources, tilePx: 1e6 }), ({ body }: { body?: object } & Error) => {
    const error = "Expected 0 to 32768 for tilePx but received '1000000'";
    const parts = ['Expected 0 to 32768 for ', 'tilePx', " but received '1000000'"];
    assert.deepEqual(body, { error, code: 'INVALID_ARGUMENT', field: 'tilePx', parts });
    return true;
  });
  await rm(folder, { recursive: true });
});

test('the description has the comments of the .proto files, and a name for every operation', async (t) => {
  const { description } = await setApi(t);
  assert.match(description.openapi, /^3\.1\./);
  const { JobSpecInput, JobSpec, JobStatus } = description.components.schemas;
  assert.deepEqual(JobSpecInput!.required, ['sources']);
  assert.ok(JobSpec!.required!.includes('mapFormat') && JobStatus!.required!.includes('jobId'));
  assert.match(JobSpecInput!.properties.grid!.description!, /^Every cell gets its own histogram/);
  const operations = Object.values(description.paths).flatMap((path) => Object.values(path));
  const names = operations.map(({ operationId }) => operationId);
  assert.equal(new Set(names).size, names.length);
  for (const { operationId, parameters = [] } of operations) {
    for (const { name, description } of parameters) assert.ok(description, `${name} of ${operationId} is described`);
  }
  for (const [name, { properties }] of Object.entries(description.components.schemas)) {
    assert.ok(Object.keys(properties).length > 0, name);
  }
});
