import { Catalog, type Resource } from '../../protocol/catalog.ts';
import { type ErrorBody, errorBody, ProtocolError } from '../../protocol/errors.ts';
import type { Segments } from '../../protocol/fault.ts';
import { isJsonObject, type Json, jsonPath } from '../../protocol/json.ts';
import { findDisagreements, PublishMessage } from '../../protocol/publish-messages.ts';
import { findFaults } from '../../protocol/validate.ts';
import { checkCatalog } from '../../rules/check-attributes.ts';
import { assembleResource } from '../../rules/inherit.ts';
import { type Submission, submissionsOf } from '../../rules/submission.ts';
import type { AttributeChecker } from '../../rules/typed-attributes.ts';
import { CommandError } from '../command.ts';

export interface DocumentOptions {
  checker: AttributeChecker;
  /** Missing members are allowed, regardless of the directives. */
  isTemplate: boolean;
}

/** Checks a document of any of our kinds: first its shape and, if that is valid, its typed attributes. */
export function checkDocument(value: Json, options: DocumentOptions) {
  if (Array.isArray(value)) {
    const reports = value.map((item, index) => checkItem(item, [index], options));
    return { subject: `${value.length} items`, faults: reports.flatMap(({ faults }) => faults) };
  }
  return checkItem(value, [], options);
}

function checkItem(value: Json, at: Segments, options: DocumentOptions) {
  if (isJsonObject(value)) {
    if (isJsonObject(value.message))
      return { subject: 'publish body', faults: checkMessage(value.message, [...at, 'message'], options) };
    if (Array.isArray(value.catalogs))
      return { subject: 'catalogs', faults: checkMessage(value, at, options) };
    if ('provider' in value && 'descriptor' in value)
      return { subject: 'catalog', faults: checkOneCatalog(value, at, options) };
    const { checker, isTemplate: partial } = options;
    if ('@context' in value) return { subject: 'attributes', faults: checker.check(value, { at, partial }) };
  }
  throw new CommandError(
    'It is neither a publish body (context, message), nor catalogs, nor a catalog, nor attributes with @context.',
  );
}

const findMessageFaults = findFaults(PublishMessage);
const findCatalogFaults = findFaults(Catalog);

function checkMessage(value: Json, at: Segments, options: DocumentOptions): ErrorBody[] {
  const faults = findMessageFaults(value, at);
  if (faults.length > 0) return faults;
  const message = value as unknown as PublishMessage;
  const broken = findBrokenReferences(message, at);
  if (broken.length > 0) return broken;
  // Networks make no difference here.
  const submissions = submissionsOf(message, '');
  const templates = templatesOf(submissions);
  return submissions
    .sort((one, other) => one.position - other.position)
    .flatMap((submission) =>
      checkSubmission(submission, [...at, 'catalogs', submission.position], templates, options),
    );
}

function checkOneCatalog(value: Json, at: Segments, { checker, isTemplate }: DocumentOptions): ErrorBody[] {
  const faults = findCatalogFaults(value, at);
  if (faults.length > 0) return faults;
  return checkCatalog(value as unknown as Catalog, checker, { at, isPartial: () => isTemplate });
}

/** Directives must agree with the catalogs. The check expects the message of a body. */
function findBrokenReferences(message: PublishMessage, at: Segments): ErrorBody[] {
  return [...findDisagreements(message)].map(({ code, message: problem, path }) =>
    errorBody(new ProtocolError(code, problem, { path: path?.replace(/^\$\.message/, jsonPath(at)) })),
  );
}

function templatesOf(submissions: readonly Submission[]): Map<string, Resource> {
  const masters = submissions.filter(({ catalogType }) => catalogType === 'MASTER');
  return new Map(
    masters.flatMap(({ catalog }) => catalog.resources ?? []).map((resource) => [resource.id, resource]),
  );
}

/** A resource that extends a master in the same file is checked after assembly. If the master is elsewhere, inherited members may be missing. */
function checkSubmission(
  { catalog, catalogType, extensions }: Submission,
  at: Segments,
  templates: ReadonlyMap<string, Resource>,
  { checker, isTemplate }: DocumentOptions,
): ErrorBody[] {
  const templateOf = ({ id }: Resource) =>
    templates.get(extensions.get(id)?.extension.extends.masterResourceId ?? '');
  const contradictions: ErrorBody[] = [];
  const resources = (catalog.resources ?? []).map((own, index) => {
    const { assembled = own, faults = [] } = assembleResource(own, templateOf(own), [
      ...at,
      'resources',
      index,
    ]);
    contradictions.push(...faults.map(errorBody));
    return assembled;
  });
  const isPartial = (resource: Resource) =>
    isTemplate ||
    catalogType === 'MASTER' ||
    (extensions.has(resource.id) && templateOf(resource) === undefined);
  return [...contradictions, ...checkCatalog({ ...catalog, resources }, checker, { at, isPartial })];
}
