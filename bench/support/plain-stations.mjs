// The yardstick of discover: the same resources in one plain table, with the columns and indexes that somebody would give it who knows the
// questions beforehand, and the SQL that he would write.
import { queryBox, sphereBox } from '../../dist/rules/geometry/sphere-box.js';

export async function makePlainTable(database) {
  await database.query('create schema plain');
  await database.query(
    `create table plain.station as
     select resource.key, document, attributes ->> 'make' as make, attributes ->> 'model' as model,
       attributes ->> 'connectorType' as connector, (attributes ->> 'price')::float8 as price, cube_subset(box, array[1, 2, 3]) as place,
       to_tsvector('simple', head::text) || to_tsvector('simple', document::text) as words
     from discovery.resource
     join discovery.catalog on catalog.key = catalog_key
     join discovery.geometry on geometry.key = catalog_key << 26
     cross join lateral (select document #> '{resourceAttributes,attributes}' as attributes) as typed`,
  );
  for (const columns of ['(model, key)', '(make, price)', 'using gist (place)', 'using gin (words)'])
    await database.query(`create index on plain.station ${columns}`);
  await database.query('vacuum analyze plain.station');
}

/** A page of the resources that satisfy a condition. */
export function plainPage(condition, values, { order = 'key', limit }) {
  return {
    text: `select document::text from plain.station where ${condition} order by ${order} limit ${limit}`,
    values,
  };
}

/** Looks at everything. */
export const plainScan = {
  text: 'select count(*) from plain.station where document::text like $1',
  values: ['%Bengaluru%'],
};

/** What a condition compares `place` with. */
export function boxAround(place, radiusMeters) {
  return cubeText(queryBox('S_DWITHIN', place, radiusMeters));
}

export function boxOf(place) {
  return cubeText(sphereBox(place));
}

function cubeText({ low, high }) {
  return `(${low}),(${high})`;
}
