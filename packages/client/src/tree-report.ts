import type { CatalogType } from '../../../src/protocol/catalog.ts';
import type { HostedDocument } from '../../../src/rules/self-hosted/faults.ts';
import type { Registry } from './registry.ts';

export interface VerifyTreeOptions {
  /** Base address of the registry's DeDi API, or a registry of your own making: the keys of the node are the registry's word. */
  registry: string | Registry;
  registryName?: string;
  /** subscriberId of the node that must have signed the files. Default: the node that the files name; its keys must have signed them. */
  node?: string;
  /** Lets files be read from loopback and private addresses, and by http: for development (default false). */
  allowPrivateAddresses?: boolean;
  /** In place of the global one, for the registry. Files use it only where private addresses are allowed, as downloads do. */
  fetch?: typeof fetch;
  signal?: AbortSignal;
}

export interface TreeReport {
  /** `namespace/registry` of the node; undefined where not even the manifest could be read. */
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
