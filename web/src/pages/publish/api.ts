import { get, post } from '../../api/client.ts';

export interface Fault {
  code: string;
  message: string;
  path?: string;
  line?: number;
  column?: number;
  hint?: string;
}

export interface CheckAnswer {
  parsed: boolean;
  faults: Fault[];
  warnings: Fault[];
  catalogs: { catalogId: string; resources: number; offers: number }[];
}

export type Way = 'service' | 'files';

export interface PublishAnswer {
  way: Way;
  messageId?: string;
  transactionId?: string;
  results?: PublishResult[];
}

export interface PublishResult {
  catalogId: string;
  status?: string;
  stats?: Record<string, number>;
  errors?: Partial<Fault>[];
  warnings?: Partial<Fault>[];
  [member: string]: unknown;
}

export interface PublishStep {
  step: string;
  state: 'done' | 'waiting' | 'failed';
  at?: string;
  detail?: string;
}

export interface ProgressAnswer {
  steps: PublishStep[];
  results?: PublishResult[];
}

export function check(text: string, signal: AbortSignal): Promise<CheckAnswer> {
  return post<CheckAnswer>('/api/publish/check', { text }, signal);
}

export function publish(text: string, way: Way): Promise<PublishAnswer> {
  return post<PublishAnswer>('/api/publish', { text, way });
}

export function readProgress(messageId: string, signal: AbortSignal): Promise<ProgressAnswer> {
  return get<ProgressAnswer>(`/api/publish/${encodeURIComponent(messageId)}`, {}, signal);
}

/** The catalog services that the discovery service follows. */
export function readFeeds(signal: AbortSignal): Promise<{ items: { catalogUrl: string }[] }> {
  return get<{ items: { catalogUrl: string }[] }>('/api/feeds', {}, signal);
}
