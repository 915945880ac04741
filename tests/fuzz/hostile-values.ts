import fc from 'fast-check';

// Values that programs handle badly: edges of numbers, dates and addresses, texts that PostgreSQL or JSON cannot store, names of JavaScript's
// built-in members, costly patterns and paths, shapes in the wrong place.

const texts: readonly string[] = [
  ...[
    '',
    ' ',
    '\t\n',
    '\u0000',
    'a\u0000b',
    '\ud800',
    'x\udfffy',
    '\ufeff',
    '\ufffe\uffff',
    '\u202edcba',
    '🧨'.repeat(40),
  ],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'length', '$ref', '@type'],
  ...[
    "'; drop table catalog.catalog; --",
    '%',
    '%00',
    '%zz',
    '_',
    '\\',
    '\\u0000',
    '{messageId}',
    '$' + '{x}',
    '<script>',
  ],
  ...[
    '../../etc/passwd',
    '/',
    '//',
    'file:///etc/passwd',
    'C:\\',
    '.',
    '..',
    'a/b',
    'a|b|c',
    '|||',
    'null',
    'undefined',
    'NaN',
  ],
  ...[
    'http://',
    'http://[::1',
    'http://a b/',
    'https://user:pw@127.0.0.1:0/',
    'http://0x7f.1/',
    'http://127.0.0.1:99999/',
    'urn:',
    'javascript:1',
  ],
  ...[
    'http://xn--/',
    'https://例え.テスト/',
    'http://169.254.169.254/',
    'ftp://127.0.0.1/',
    `https://${'a.'.repeat(200)}test/`,
  ],
  ...[
    '2026-02-30T25:61:61Z',
    '9999-12-31T23:59:60Z',
    '0000-01-01T00:00:00Z',
    '+275761-01-01T00:00:00Z',
    '2026-01-01',
    '2026-01-01T00:00:00+99:99',
  ],
  ...[
    '-271821-04-20T00:00:00Z',
    'P',
    'PT',
    'P1Y2M3DT4H5M6.7S',
    'PT99999999999999999999S',
    '-PT1S',
    '24:00',
    '25:00',
    '23:59:60',
  ],
  ...[
    '$',
    '$.',
    '$..*',
    '$[',
    '$[?(@.a==',
    "$.catalogs[*].resources[?@.id=='x']",
    '$.catalogs[?@..a..b..c]',
    '$['.repeat(300),
    '$[?!'.repeat(200),
  ],
  ...[
    '$[99999999999999999999]',
    '$[-9007199254740993]',
    "$[?match(@.a,'(a+)+$')]",
    "$[?match(@.a,'[')]",
    '$[?count(@..*)>1e999]',
    "$['\ud800']",
  ],
  ...[
    '((((a+)+)+)+)$',
    '[',
    '(?<=a)',
    'a{0,99999}',
    `BLAKE-512=${'A'.repeat(88)}`,
    'sha256:',
    `sha-256:${'0'.repeat(64)}`,
    'AA==',
    '====',
  ],
  ...['x'.repeat(513), 'ab '.repeat(2_000), 'é'.repeat(1_100), 'a-'.repeat(300)],
];

const numbers: readonly number[] = [
  ...[
    0,
    -0,
    1,
    -1,
    0.1,
    1.5,
    20,
    100,
    101,
    1e3,
    1e9,
    2 ** 31 - 1,
    2 ** 31,
    2 ** 32,
    2 ** 53,
    2 ** 53 + 2,
    2 ** 63,
    -(2 ** 63),
  ],
  ...[1e21, 1e308, -1e308, 5e-324, 90, 90.000001, -90, 180, 180.000001, -180, 360, 1e-7],
];

const geometries: readonly object[] = [
  { type: 'Point', coordinates: [] },
  { type: 'Point', coordinates: [1e308, 1e308] },
  { type: 'Point', coordinates: [0, 91] },
  { type: 'Point', coordinates: ['0', '0'] },
  { type: 'Polygon', coordinates: [] },
  { type: 'Polygon', coordinates: [[]] },
  { type: 'Polygon', coordinates: [[[0, 0], [0, 0], [0, 0], [0, 0]]] }, // biome-ignore format: one line each
  { type: 'Polygon', coordinates: [[[0, 0], [2, 2], [0, 2], [2, 0], [0, 0]]] }, // biome-ignore format: one line each
  { type: 'Polygon', coordinates: [[[-180, -90], [180, -90], [180, 90], [-180, 90], [-180, -90]]] }, // biome-ignore format: one line each
  { type: 'LineString', coordinates: [[0, 0]] },
  { type: 'LineString', coordinates: [[0, 90], [180, -90]] }, // biome-ignore format: one line each
  { type: 'MultiPolygon', coordinates: [[], [[]], [[[]]]] },
  { type: 'GeometryCollection', geometries: [] },
  { type: 'GeometryCollection', geometries: [{ type: 'GeometryCollection', geometries: [null] }] },
  { type: 'Feature', geometry: null, properties: {} },
  { type: 'point', coordinates: [0, 0] },
];

/** As JSON text, because a literal cannot create a member with this name. */
const odd: readonly unknown[] = [
  JSON.parse('{"__proto__":{"id":"x"}}'),
  JSON.parse('{"constructor":{"prototype":{"id":"x"}}}'),
  JSON.parse('{"":""}'),
  nested(60, (inner) => [inner]),
  nested(60, (inner) => ({ a: inner })),
  Array.from({ length: 300 }, (_, index) => ({ id: `r${index % 150}` })),
  Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`m${index}`, index])),
  { toString: null, valueOf: 1, toJSON: 'x', length: -1 },
  [undefined, null, [], {}],
];

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...texts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
);

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: hostileText },
  { weight: 4, arbitrary: fc.constantFrom(...numbers) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [null], [[]], [{}], ['']) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(...odd) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(...geometries) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 'x';
  for (let left = depth; left > 0; left--) value = wrap(value);
  return value;
}
