import { get, post } from '../../api/client.ts';
import type { DiscoverMessage, FindBody } from '../../search/messages.ts';

// Answers of the operator's API to a search. Its messages are those of discover.

export interface FieldsAnswer {
  types: TypeFields[];
  offers: Field[];
}

export interface TypeFields {
  type: string;
  label: string;
  resources: number;
  fields: Field[];
}

export interface Field {
  /** JSONPath below the resource, or the offer: `@.resourceAttributes.attributes.connectorType`. */
  path: string;
  label: string;
  kind: 'enum' | 'number' | 'boolean' | 'text';
  unit?: string;
  values?: { value: string | number | boolean; count?: number }[];
  min?: number;
  max?: number;
}

export interface Descriptor {
  name?: string;
  shortDesc?: string;
}

export interface Offer {
  id: string;
  descriptor?: Descriptor;
  resourceIds?: string[];
  considerations?: { id: string; considerationAttributes?: Record<string, unknown> }[];
  validity?: Record<string, string>;
}

export interface Resource {
  id: string;
  descriptor?: Descriptor;
  resourceAttributes?: Record<string, unknown>;
}

export interface Catalog {
  id: string;
  descriptor: Descriptor;
  provider: { id: string; descriptor: Descriptor; availableAt?: unknown[] };
  resources?: Resource[];
  offers?: Offer[];
  bppId?: string;
}

export interface NearMiss {
  code: string;
  message: string;
  path?: string;
  suggestion?: string;
}

export interface ExplainStep {
  step: string;
  ms?: number;
  [detail: string]: unknown;
}

export interface FindAnswer {
  catalogs: Catalog[];
  resourceCount: number;
  total: number;
  orMore: boolean;
  leftOut?: { resources: number; orMore?: boolean; offers?: number };
  nearMisses: NearMiss[];
  explain: { steps: ExplainStep[]; ms: number };
  /** The body of a discover that asks the same. */
  request: { message: DiscoverMessage };
}

export interface WhyAnswer {
  found: boolean;
  rank?: number;
  checks: { check: string; ok: boolean; detail: string; got?: unknown }[];
  conclusion: string;
  nextStep?: string;
}

export function find(body: FindBody, signal: AbortSignal): Promise<FindAnswer> {
  return post<FindAnswer>('/api/find', body, signal);
}

export function askWhy(
  body: FindBody,
  resource: { id: string; catalogId?: string },
  signal: AbortSignal,
): Promise<WhyAnswer> {
  return post<WhyAnswer>('/api/find/why', { ...body, resource }, signal);
}

export function readFields(network: string, signal: AbortSignal): Promise<FieldsAnswer> {
  return get<FieldsAnswer>('/api/schemas/fields', { network }, signal);
}
