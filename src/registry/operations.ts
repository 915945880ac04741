import { Type } from 'typebox';
import type { PlainOperation } from '../http/openapi.ts';
import {
  LookupAnswer,
  NamespaceAnswer,
  QueryAnswer,
  RegistriesAnswer,
  RegistryAnswer,
  VersionsAnswer,
} from '../protocol/registry-answers.ts';

// The questions that the registry role answers (DeDi), for its routes and its OpenAPI document.

const asOn = Type.Optional(
  Type.String({
    description: 'The state at this moment: a date-time, or a date for the end of that day (UTC).',
  }),
);
const versionId = Type.Optional(Type.String({ description: 'This version, of those that /versions lists.' }));
const page = Type.Optional(Type.Integer({ minimum: 1 }));
const pageSize = Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 }));
const atVersion = Type.Object({ as_on: asOn, version_id: versionId });
const list = Type.Object({ as_on: asOn, page, page_size: pageSize });
const answers = {
  304: 'Unchanged since the ETag in If-None-Match.',
  400: 'INVALID_PARAMETER: as_on cannot be read, or stands beside version_id.',
  404: 'NOT_FOUND: it is not there, or was not at that moment.',
};

export const operations = {
  '/lookup/:namespace': {
    summary: 'Look up a namespace: one half of an identity or of a networkId.',
    ...{ query: atVersion, answer: NamespaceAnswer, answers },
  },
  '/lookup/:namespace/:registryName': {
    summary: 'Look up a registry: the keys of a participant, or of the members of a network.',
    ...{ query: atVersion, answer: RegistryAnswer, answers },
  },
  '/lookup/:namespace/:registryName/:recordId': {
    summary: 'Look up one signing key of a participant.',
    ...{ query: atVersion, answer: LookupAnswer, answers },
  },
  '/query/:namespace': {
    summary: 'List the registries of a namespace.',
    ...{ query: list, answer: RegistriesAnswer, answers },
  },
  '/query/:namespace/:registryName': {
    summary: 'List the keys of a participant, or of the members of a network.',
    description: 'The two names are an identity or a networkId. page and page_size (up to 1000) turn pages.',
    ...{ query: list, answer: QueryAnswer, answers },
  },
  '/versions/:namespace': {
    summary: 'List the versions of a namespace: one, because only its records change.',
    ...{ answer: VersionsAnswer, answers },
  },
  '/versions/:namespace/:registryName': {
    summary: 'List the versions of a registry: one, because only its records change.',
    ...{ answer: VersionsAnswer, answers },
  },
  '/versions/:namespace/:registryName/:recordId': {
    summary: 'List the versions of one signing key, the newest first.',
    ...{ query: Type.Object({ page, page_size: pageSize }), answer: VersionsAnswer, answers },
  },
} satisfies Record<string, PlainOperation>;

export type RegistryQuestion = keyof typeof operations;
