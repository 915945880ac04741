import type { FieldsAnswer, FindAnswer, WhyAnswer } from '../../../../src/console/answers/find.ts';
import { get, post } from '../../api/client.ts';
import type { FindBody } from '../../search/messages.ts';

// Answers of the operator's API to a search. Its messages are those of discover.

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
