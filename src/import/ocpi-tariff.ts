import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { readCurrency, readDateTime, textOf } from './cell-values.ts';
import { noteRest } from './field-table.ts';
import { ocpiFields } from './ocpi-fields.ts';
import type { Attributes, Price, Report, Tariff } from './station.ts';

// A tariff of OCPI 2.2.1 or 2.3.0. An unreadable tariff is not a price: it is reported, never imported as free.

export function tariffOf(tariff: Json, report: Report): Omit<Tariff, 'chargerIds' | 'timeZone'> | undefined {
  const id = isJsonObject(tariff) ? textOf(tariff.id) : undefined;
  const currency = isJsonObject(tariff) ? readCurrency(textOf(tariff.currency)) : undefined;
  if (!isJsonObject(tariff) || id === undefined || currency === undefined) {
    report('needs an id, and a currency of three letters', { column: 'tariffs', value: id });
    return undefined;
  }
  noteRest(tariff, 'tariffs', ocpiFields, report);
  const prices = pricesOf(tariff, id, report);
  if (prices.length === 0) {
    report('has no price', { column: 'tariffs', value: id });
    return undefined;
  }
  const texts = Array.isArray(tariff.tariff_alt_text) ? tariff.tariff_alt_text.filter(isJsonObject) : [];
  const text = texts.find(({ language }) => language === 'en') ?? texts[0];
  if (texts.length > 1)
    report('is imported in one language', { column: 'tariffs.tariff_alt_text', kind: 'note' });
  const [startDate, endDate] = ['start_date_time', 'end_date_time'].map((member) => {
    const given = textOf(tariff[member]);
    const instant = given === undefined ? undefined : readDateTime(given);
    if (given !== undefined && instant === undefined)
      report('is not a date', { column: `tariffs.${member}`, value: given });
    return instant;
  });
  return {
    id,
    description: text && textOf(text.text),
    code: textOf(tariff.type),
    currency,
    prices,
    ...((startDate ?? endDate) !== undefined && {
      validity: { ...(startDate && { startDate }), ...(endDate && { endDate }) },
    }),
  };
}

function pricesOf(tariff: JsonObject, id: string, report: Report): Price[] {
  const elements = Array.isArray(tariff.elements) ? tariff.elements.filter(isJsonObject) : [];
  const taxIncluded = { YES: true, NO: false }[textOf(tariff.tax_included) ?? ''];
  const components = elements.flatMap((element) => {
    const restrictions = restrictionsOf(element.restrictions, id, report);
    const list = Array.isArray(element.price_components) ? element.price_components : [];
    return list.flatMap((component) => priceOf(component, id, restrictions, taxIncluded, report) ?? []);
  });
  return [
    ...components,
    ...boundOf(tariff.min_price, 'MINIMUM', taxIncluded),
    ...boundOf(tariff.max_price, 'MAXIMUM', taxIncluded),
  ];
}

function priceOf(
  component: Json,
  id: string,
  restrictions: Attributes | undefined,
  taxIncluded: boolean | undefined,
  report: Report,
): Price | undefined {
  const { type, price, vat, step_size: step }: JsonObject = isJsonObject(component) ? component : {};
  const isKnown = type === 'ENERGY' || type === 'TIME' || type === 'PARKING_TIME' || type === 'FLAT';
  const value = numberOf(price);
  if (!isKnown || value === undefined || value < 0) {
    const column = 'tariffs.elements.price_components';
    report(`of tariff ${id} is not a price`, { column, value: JSON.stringify(component) });
    return undefined;
  }
  const taxPercent = numberOf(vat);
  // OCPI 2.2.1 has no tax_included: a price with a separate VAT excludes it.
  const isIncluded = taxIncluded ?? (taxPercent === undefined ? undefined : false);
  return {
    type,
    value,
    ...(typeof step === 'number' && step > 0 && { step }),
    ...(isIncluded !== undefined && { taxIncluded: isIncluded }),
    ...(taxPercent !== undefined && { taxPercent }),
    ...(restrictions && { restrictions }),
  };
}

/** Converts the names of OCPI to the notation of JSON-LD: `start_time` becomes `startTime`. Some operators send an array of one. */
function restrictionsOf(given: Json | undefined, id: string, report: Report): Attributes | undefined {
  const [first, ...others] = [given].flat().filter(isJsonObject);
  if (others.length > 0)
    report(`of tariff ${id} has several values: the first is imported`, {
      column: 'tariffs.elements.restrictions',
    });
  const members = Object.entries(first ?? {}).filter(([, value]) => value !== null);
  if (members.length === 0) return undefined;
  return Object.fromEntries(members.map(([name, value]) => [camelCase(name), value]));
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function boundOf(bound: Json | undefined, type: 'MINIMUM' | 'MAXIMUM', taxIncluded?: boolean): Price[] {
  if (!isJsonObject(bound)) return [];
  const after = numberOf(bound.after_taxes ?? bound.incl_vat);
  const before = numberOf(bound.before_taxes ?? bound.excl_vat);
  const isAfter = after !== undefined && (taxIncluded === true || before === undefined);
  const value = isAfter ? after : before;
  if (value === undefined) return [];
  return [{ type, value, taxIncluded: isAfter }];
}

function numberOf(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
