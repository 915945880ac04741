import { ReceivedCatalog } from './catalog.ts';
import { Context, envelope, openEnvelope } from './context.ts';
import type { ProtocolError } from './errors.ts';
import { faultAt } from './fault.ts';
import {
  closedTitled,
  DateTime,
  ErrorReport,
  Limit,
  Offset,
  oneOfTexts,
  Pagination,
  SubscriptionId,
  titled,
  Uri,
} from './shapes.ts';
import { type Static, Type } from './type.ts';

export const PullMessage = closedTitled('PullMessage', {
  subscriptionId: SubscriptionId,
  mode: Type.Optional(
    oneOfTexts(['FULL', 'INCREMENTAL'], { default: 'FULL', description: 'INCREMENTAL is not enabled.' }),
  ),
  fromDate: Type.Optional(Type.Unknown({ description: 'For INCREMENTAL; always ignored.' })),
  toDate: Type.Optional(Type.Unknown({ description: 'For INCREMENTAL; always ignored.' })),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});
export type PullMessage = Static<typeof PullMessage>;

export const PullRequest = envelope('PullRequest', Context, PullMessage);

export const DownloadManifest = titled('DownloadManifest', {
  url: Uri,
  expiresAt: DateTime,
  format: oneOfTexts(['json.gz']),
  sizeBytes: Type.Integer({ minimum: 0 }),
  checksum: Type.String({ pattern: '^sha256:[0-9A-Fa-f]{64}$', description: 'Over the bytes at the url.' }),
});
export type DownloadManifest = Static<typeof DownloadManifest>;

export const OnPullMessage = Type.Object(
  {
    status: oneOfTexts(['COMPLETED', 'FAILED']),
    messageId: Type.Optional(Type.String({ description: "On FAILED: the request's." })),
    catalogs: Type.Optional(Type.Array(ReceivedCatalog)),
    downloadManifest: Type.Optional(DownloadManifest),
    pagination: Type.Optional(Pagination),
    error: Type.Optional(ErrorReport),
  },
  {
    title: 'OnPullMessage',
    description: 'COMPLETED: exactly one of catalogs and downloadManifest. FAILED: neither, and an error.',
  },
);
export type OnPullMessage = Static<typeof OnPullMessage>;

export const OnPullCallback = openEnvelope('OnPullCallback', Context, OnPullMessage);

export function checkPullMessage(message: PullMessage): void {
  if (message.mode === 'INCREMENTAL')
    throw faultAt('NET_NOT_IMPLEMENTED', ['message', 'mode'], 'INCREMENTAL is not enabled; use FULL');
}

export function checkOnPullMessage({ status, catalogs, downloadManifest, error }: OnPullMessage): void {
  if (status === 'FAILED') {
    if (!error) throw faultAt('SCH_REQUIRED_FIELD_MISSING', ['message', 'error'], 'is missing');
    if (catalogs) throw misplaced('catalogs', 'status FAILED');
    if (downloadManifest) throw misplaced('downloadManifest', 'status FAILED');
    return;
  }
  if (catalogs && downloadManifest) throw misplaced('downloadManifest', 'catalogs');
  if (!catalogs && !downloadManifest)
    throw faultAt('SCH_REQUIRED_FIELD_MISSING', ['message'], 'must have one of catalogs, downloadManifest');
}

function misplaced(member: string, beside: string): ProtocolError {
  return faultAt('SCH_SCHEMA_VALIDATION_FAILED', ['message', member], `cannot be combined with ${beside}`);
}
