import type { CatalogType } from '../../../src/protocol/catalog.ts';
import type { HostedDocument } from '../../../src/rules/self-hosted/faults.ts';
import type { Registry } from './registry.ts';

export interface VerifyTreeOptions {
  /** Base address of the registry's DeDi API, or your own Registry: the keys of the node come from it. */
  registry: string | Registry;
  registryName?: string;
  /** subscriberId of the node that must have signed the files. Default: the node that the files name; its keys must have signed them. */
  node?: string;
  /** Allows files at loopback and private addresses, and by http: for development (default false). */
  allowPrivateAddresses?: boolean;
  /** Replaces the global one for the registry. Files use it only if private addresses are allowed, like downloads. */
  fetch?: typeof fetch;
  signal?: AbortSignal;
}

export interface TreeReport {
  /** `namespace/registry` of the node; undefined if the manifest could not be read. */
  node?: string;
  isValid: boolean;
  documents: number;
  catalogs: VerifiedCatalog[];
  /** The first one is the first broken link of the chain. */
  faults: TreeFault[];
}

export interface VerifiedCatalog {
  catalogId: string;
  catalogType: CatalogType;
  /** Undefined for a retired one. */
  version?: number;
  resources: number;
  offers: number;
}

export interface TreeFault {
  document: HostedDocument;
  url?: string;
  catalogId?: string;
  code: string;
  message: string;
  hint: string;
}
