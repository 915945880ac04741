import type { PlainOperation } from '../http/openapi.ts';
import {
  LookupAnswer,
  NamespaceAnswer,
  QueryAnswer,
  RegistriesAnswer,
  RegistryAnswer,
  VersionsAnswer,
} from '../protocol/registry-answers.ts';
import { Type } from '../protocol/type.ts';

// The questions that the registry role answers (DeDi), for its routes and its OpenAPI document.

const asOn = Type.Optional(
  Type.String({ description: 'The state at this moment: date-time, or date for the end of that day (UTC).' }),
);
const versionId = Type.Optional(Type.String({ description: 'This version, of those that /versions lists.' }));
const page = Type.Optional(Type.Integer({ minimum: 1 }));
const pageSize = Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 }));
const atVersion = Type.Object({ as_on: asOn, version_id: versionId });
const filter = {
  name: Type.Optional(Type.String({ description: 'Only names that contain this, in any case.' })),
  from: Type.Optional(Type.String({ description: 'Only what changed then or later: a date or date-time.' })),
  to: Type.Optional(Type.String({ description: 'Only what was changed then or before.' })),
  sort: Type.Optional(Type.String({ description: 'name (default), id, date (latest first) or status.' })),
};
const state = Type.Optional(
  Type.String({ description: 'Only in this state: draft, live (or active), suspended, revoked or expired.' }),
);
const list = { as_on: asOn, ...filter, page, page_size: pageSize };
const answers = {
  304: 'Unchanged since the ETag in If-None-Match.',
  400: 'INVALID_PARAMETER: a moment, state or order cannot be read, or as_on is combined with version_id.',
  404: 'NOT_FOUND: it does not exist, or did not at that moment.',
};

/** An example identity: `provider.example.org/subscribers.beckn.one`. */
const examples = {
  parameters: {
    ...{ namespace: 'provider.example.org', registryName: 'subscribers.beckn.one', recordId: 'key-1' },
    ...{ page: 1, page_size: 100 },
  },
};

export const operations = {
  '/lookup/:namespace': {
    summary: 'Look up a namespace: one half of an identity or of a networkId.',
    ...{ query: atVersion, answer: NamespaceAnswer, answers, examples },
  },
  '/lookup/:namespace/:registryName': {
    summary: 'Look up a registry: the keys of a participant, or of the members of a network.',
    ...{ query: atVersion, answer: RegistryAnswer, answers, examples },
  },
  '/lookup/:namespace/:registryName/:recordId': {
    summary: 'Look up one signing key of a participant.',
    ...{ query: atVersion, answer: LookupAnswer, answers, examples },
  },
  '/query/:namespace': {
    summary: 'List the registries of a namespace.',
    ...{ query: Type.Object({ status: state, ...list }), answer: RegistriesAnswer, answers, examples },
  },
  '/query/:namespace/:registryName': {
    summary: 'List the keys of a participant, or of the members of a network.',
    description: 'The two names are an identity or a networkId. page and page_size (up to 1000) turn pages.',
    ...{ query: Type.Object({ state, ...list }), answer: QueryAnswer, answers, examples },
  },
  '/versions/:namespace': {
    summary: 'List the versions of a namespace: one, because only its records change.',
    ...{ answer: VersionsAnswer, answers, examples },
  },
  '/versions/:namespace/:registryName': {
    summary: 'List the versions of a registry: one, because only its records change.',
    ...{ answer: VersionsAnswer, answers, examples },
  },
  '/versions/:namespace/:registryName/:recordId': {
    summary: 'List the versions of one signing key, the newest first.',
    ...{ query: Type.Object({ page, page_size: pageSize }), answer: VersionsAnswer, answers, examples },
  },
} satisfies Record<string, PlainOperation>;

export type RegistryQuestion = keyof typeof operations;
