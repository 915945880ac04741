import type { Feed } from '../../../../src/console/answers/network.ts';
import type { CheckAnswer, ProgressAnswer, PublishAnswer } from '../../../../src/console/answers/publish.ts';
import { get, post } from '../../api/client.ts';

export type Way = 'service' | 'files';

export function check(text: string, as: string | undefined, signal: AbortSignal): Promise<CheckAnswer> {
  return post<CheckAnswer>('/api/publish/check', { text, as }, signal);
}

export function publish(text: string, way: Way, as?: string): Promise<PublishAnswer> {
  return post<PublishAnswer>('/api/publish', { text, way, as });
}

export function readProgress(messageId: string, signal: AbortSignal): Promise<ProgressAnswer> {
  return get<ProgressAnswer>(`/api/publish/${encodeURIComponent(messageId)}`, {}, signal);
}

/** The catalog services that the discovery service follows. */
export function readFeeds(signal: AbortSignal): Promise<{ items: Feed[] }> {
  return get<{ items: Feed[] }>('/api/feeds', {}, signal);
}
