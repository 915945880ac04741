import { readFileSync } from 'node:fs';
import { takeTime } from '../time.ts';

// The parts of Arazzo 1.0 that docs/api/flows.arazzo.json uses: steps by operationId, parameters, payloads, outputs, criteria on the status, retries.

export interface Step {
  stepId: string;
  operationId: string;
  parameters?: { name: string; in: string; value: string }[];
  requestBody?: { payload: object };
  outputs?: Record<string, string>;
  successCriteria: { condition: string }[];
  onFailure?: {
    type: string;
    retryAfter: number;
    retryLimit: number;
    criteria: { condition: string }[];
  }[];
  'x-signed-by'?: string;
  'x-callback'?: string;
}

export interface Workflow {
  workflowId: string;
  steps: Step[];
}

export interface StepRequest {
  source: string;
  operationId: string;
  signedBy: string | undefined;
  query: Record<string, string>;
  payload: object | undefined;
}

export interface StepAnswer {
  status: number;
  body: unknown;
}

export function readWorkflows(file: string): Workflow[] {
  return JSON.parse(readFileSync(file, 'utf8')).workflows;
}

/** Runs the steps one after another; throws at the first failure. */
export async function runWorkflow(
  { steps }: Workflow,
  inputs: Record<string, string>,
  send: (request: StepRequest) => Promise<StepAnswer>,
): Promise<void> {
  const outputs: Record<string, Record<string, unknown>> = {};
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolve(inner)]));
    if (typeof value !== 'string') return value;
    const [, input] = /^\$inputs\.(\w+)$/.exec(value) ?? [];
    if (input !== undefined) return inputs[input];
    const [, stepId = '', output = ''] = /^\$steps\.(\w+)\.outputs\.(\w+)$/.exec(value) ?? [];
    return stepId === '' ? value : outputs[stepId]?.[output];
  };
  for (const step of steps) {
    const [, source = '', operationId = ''] =
      /^\$sourceDescriptions\.(\w+)\.(\w+)$/.exec(step.operationId) ?? [];
    const request: StepRequest = {
      source,
      operationId,
      signedBy: step['x-signed-by'],
      query: Object.fromEntries(
        (step.parameters ?? []).map(({ name, value }) => [name, String(resolve(value))]),
      ),
      payload: resolve(step.requestBody?.payload) as object | undefined,
    };
    const answer = await sendUntilDone(step, () => send(request));
    outputs[step.stepId] = Object.fromEntries(
      Object.entries(step.outputs ?? {}).map(([name, expression]) => [name, readOutput(expression, answer)]),
    );
  }
}

async function sendUntilDone(step: Step, send: () => Promise<StepAnswer>): Promise<StepAnswer> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await send();
    if (holds(step.successCriteria, answer)) return answer;
    const retry = step.onFailure?.find(({ criteria }) => holds(criteria, answer));
    if (!retry || attempt >= retry.retryLimit)
      throw new Error(`${step.stepId}: ${answer.status} ${JSON.stringify(answer.body)}`);
    await takeTime(retry.retryAfter * 1_000);
  }
}

function holds(criteria: readonly { condition: string }[], { status }: StepAnswer): boolean {
  return criteria.every(({ condition }) => condition === `$statusCode == ${status}`);
}

function readOutput(expression: string, { body }: StepAnswer): unknown {
  return expression
    .replace(/^\$response\.body#\//, '')
    .split('/')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], body);
}
