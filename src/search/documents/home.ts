import type { StoredDocument } from '../../rules/discover/page-answer.ts';
import type { PeriodBounds } from '../../rules/time-period.ts';

// What is read for a page: catalogs with their found resources, and the offers on those.

/** A catalog as an answer lists it, with the offers on all its resources. */
export interface Home extends OfferList {
  head: StoredDocument;
  id: string;
  owner: string;
  providerId: string;
  resources: Map<number, ListedResource>;
  /** Which offers apply depends on other catalogs, or there are many. */
  isShared: boolean;
}

export interface ListedResource extends OfferList {
  id: string;
  document: StoredDocument;
}

interface OfferList {
  offers: ListedOffer[];
  /** How many there are beyond these, which would not fit into an answer. */
  more: number;
}

export interface ListedOffer {
  key: number;
  document: StoredDocument;
  validity: PeriodBounds;
}
