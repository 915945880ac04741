// Pairs of geometries with a known relation, as its nine dimensions (DE-9IM): the intersections of interior, boundary and exterior of the first with
// those of the second. Every pair of types is there.

const square = 'POLYGON((0 0,4 0,4 4,0 4,0 0))';
/** The square with a square hole. */
const frame = 'POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,3 1,3 3,1 3,1 1))';
const hole = 'POLYGON((1 1,3 1,3 3,1 3,1 1))';
const line = 'LINESTRING(0 0,4 0)';
const twoLines = 'MULTILINESTRING((0 0,2 0),(2 0,4 0))';
/** Squares that touch at a corner. */
const corners = 'MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((2 2,4 2,4 4,2 4,2 2)))';
/** The square in two halves, which share an edge. */
const halves = 'GEOMETRYCOLLECTION(POLYGON((0 0,2 0,2 4,0 4,0 0)),POLYGON((2 0,4 0,4 4,2 4,2 0)))';
/** The square and a line that leaves it. */
const flag = 'GEOMETRYCOLLECTION(POLYGON((0 0,4 0,4 4,0 4,0 0)),LINESTRING(2 2,6 2))';

export const knownRelations: readonly (readonly [first: string, second: string, relation: string])[] = [
  // Points
  ['POINT(1 1)', 'POINT(1 1)', '0FFFFFFF2'],
  ['POINT(1 1)', 'POINT(2 2)', 'FF0FFF0F2'],
  ['POINT(1 1)', 'MULTIPOINT(1 1,2 2)', '0FFFFF0F2'],
  ['POINT(3 3)', 'MULTIPOINT(1 1,2 2)', 'FF0FFF0F2'],
  ['MULTIPOINT(1 1,2 2)', 'MULTIPOINT(2 2,3 3)', '0F0FFF0F2'],
  ['MULTIPOINT(1 1,2 2,1 1)', 'MULTIPOINT(2 2,1 1)', '0FFFFFFF2'],

  // Points and lines: the ends of a line are its boundary, unless an even number of ends meet
  ['POINT(2 0)', line, '0FFFFF102'],
  ['POINT(0 0)', line, 'F0FFFF102'],
  ['POINT(2 1)', line, 'FF0FFF102'],
  ['POINT(5 0)', line, 'FF0FFF102'],
  ['POINT(0 0)', 'LINESTRING(0 0,2 0,2 2,0 0)', '0FFFFF1F2'],
  ['POINT(2 0)', twoLines, '0FFFFF102'],
  ['POINT(2 0)', 'MULTILINESTRING((0 0,2 0),(2 0,4 0),(2 0,2 2))', 'F0FFFF102'],
  ['MULTIPOINT(2 0,2 1)', line, '0F0FFF102'],
  ['MULTIPOINT(0 0,4 0)', line, 'F0FFFF1F2'],
  ['MULTIPOINT(0 0,2 0)', line, '00FFFF102'],
  ['MULTIPOINT(2 0,9 9)', twoLines, '0F0FFF102'],

  // Points and areas
  ['POINT(2 2)', square, '0FFFFF212'],
  ['POINT(0 2)', square, 'F0FFFF212'],
  ['POINT(4 4)', square, 'F0FFFF212'],
  ['POINT(5 4)', square, 'FF0FFF212'],
  ['POINT(2 2)', frame, 'FF0FFF212'],
  ['POINT(1 2)', frame, 'F0FFFF212'],
  ['POINT(3 3)', frame, 'F0FFFF212'],
  ['POINT(0.5 3.5)', frame, '0FFFFF212'],
  ['POINT(2 2)', corners, 'F0FFFF212'],
  ['POINT(3 1)', corners, 'FF0FFF212'],
  [
    'POINT(2 2)',
    'MULTIPOLYGON(((0 0,9 0,9 9,0 9,0 0),(1 1,3 1,3 3,1 3,1 1)),((1.5 1.5,2.5 1.5,2.5 2.5,1.5 2.5,1.5 1.5)))',
    '0FFFFF212',
  ],
  ['MULTIPOINT(2 2,5 5)', square, '0F0FFF212'],
  ['MULTIPOINT(0 0,5 5)', square, 'F00FFF212'],
  ['MULTIPOINT(0 0,2 2)', square, '00FFFF212'],
  ['MULTIPOINT(1 1,3 3)', corners, '0FFFFF212'],
  ['MULTIPOINT(2 2,3 1)', corners, 'F00FFF212'],

  // Lines
  [line, 'LINESTRING(4 0,2 0,0 0)', '1FFF0FFF2'],
  ['LINESTRING(0 0,4 4)', 'LINESTRING(0 4,4 0)', '0F1FF0102'],
  ['LINESTRING(0 0,3 0)', 'LINESTRING(1 0,4 0)', '1010F0102'],
  ['LINESTRING(0 0,2 0)', 'LINESTRING(2 0,4 0)', 'FF1F00102'],
  ['LINESTRING(0 0,2 0)', 'LINESTRING(2 -2,2 2)', 'FF10F0102'],
  ['LINESTRING(1 0,2 0)', line, '1FF0FF102'],
  ['LINESTRING(0 1,4 1)', line, 'FF1FF0102'],
  ['LINESTRING(0 0,2 0,2 2,0 0)', 'LINESTRING(2 2,0 0,2 0,2 2)', '1FFFFFFF2'],
  [line, twoLines, '1FFF0FFF2'],
  ['LINESTRING(2 -1,2 1)', twoLines, '0F1FF0102'],
  [twoLines, 'MULTILINESTRING((1 0,4 0),(0 0,1 0))', '1FFF0FFF2'],
  [twoLines, 'MULTILINESTRING((4 0,6 0),(4 0,4 2))', 'FF10F0102'],

  // Lines and areas
  ['LINESTRING(1 1,3 3)', square, '1FF0FF212'],
  ['LINESTRING(-1 2,5 2)', square, '101FF0212'],
  ['LINESTRING(0 2,2 2)', square, '1FF00F212'],
  ['LINESTRING(4 4,5 5)', square, 'FF1F00212'],
  ['LINESTRING(3 5,5 3)', square, 'F01FF0212'],
  ['LINESTRING(0 1,0 3)', square, 'F1FF0F212'],
  ['LINESTRING(0 2,0 6)', square, 'F11F00212'],
  ['LINESTRING(5 0,5 4)', square, 'FF1FF0212'],
  ['LINESTRING(1.5 2,2.5 2)', frame, 'FF1FF0212'],
  ['LINESTRING(0.5 2,3.5 2)', frame, '1010FF212'],
  ['LINESTRING(1 1,3 1)', frame, 'F1FF0F212'],
  ['LINESTRING(1 1,3 3)', corners, '10F0FF212'],
  [twoLines, square, 'F1FF0F212'],
  ['MULTILINESTRING((1 1,2 2),(6 6,7 7))', square, '1F10F0212'],
  ['MULTILINESTRING((1 1,2 2),(3 3,4 4))', corners, '1FF00F212'],

  // Areas
  [square, 'POLYGON((4 4,4 0,0 0,0 4,4 4))', '2FFF1FFF2'],
  [square, 'POLYGON((0 0,2 0,4 0,4 4,0 4,0 0))', '2FFF1FFF2'],
  [square, 'POLYGON((2 2,6 2,6 6,2 6,2 2))', '212101212'],
  [square, hole, '212FF1FF2'],
  [square, 'POLYGON((0 0,2 0,2 2,0 2,0 0))', '212F11FF2'],
  [square, 'POLYGON((4 0,8 0,8 4,4 4,4 0))', 'FF2F11212'],
  [square, 'POLYGON((4 1,8 1,8 3,4 3,4 1))', 'FF2F11212'],
  [square, 'POLYGON((4 4,8 4,8 8,4 8,4 4))', 'FF2F01212'],
  [square, 'POLYGON((4 2,6 1,6 3,4 2))', 'FF2F01212'],
  [square, 'POLYGON((5 0,9 0,9 4,5 4,5 0))', 'FF2FF1212'],
  [frame, hole, 'FF2F112F2'],
  [frame, 'POLYGON((1.5 1.5,2.5 1.5,2.5 2.5,1.5 2.5,1.5 1.5))', 'FF2FF1212'],
  [frame, square, '2FF11F2F2'],
  [frame, 'POLYGON((0 4,4 4,4 0,0 0,0 4),(3 3,3 1,1 1,1 3,3 3))', '2FFF1FFF2'],
  [frame, 'POLYGON((2 2,6 2,6 6,2 6,2 2))', '212101212'],
  [square, 'MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((5 5,6 5,6 6,5 6,5 5)))', '212F11212'],
  [square, corners, '212F11FF2'],
  [corners, 'MULTIPOLYGON(((2 2,4 2,4 4,2 4,2 2)),((0 0,2 0,2 2,0 2,0 0)))', '2FFF1FFF2'],
  [corners, 'MULTIPOLYGON(((2 0,4 0,4 2,2 2,2 0)),((0 2,2 2,2 4,0 4,0 2)))', 'FF2F11212'],

  // Collections: the union of their members, of which the one with the highest dimension decides
  ['POINT(0 0)', 'GEOMETRYCOLLECTION(POINT(0 0),LINESTRING(0 0,0 4))', 'F0FFFF102'],
  ['POINT(2 1)', halves, '0FFFFF212'],
  ['POINT(2 0)', halves, 'F0FFFF212'],
  ['POINT(4 2)', flag, 'F0FFFF212'],
  ['POINT(5 2)', flag, '0FFFFF212'],
  ['POINT(6 2)', flag, 'F0FFFF212'],
  ['POINT(5 5)', 'GEOMETRYCOLLECTION(POINT(5 5),POLYGON((0 0,4 0,4 4,0 4,0 0)))', '0FFFFF212'],
  ['MULTIPOINT(2 1,2 0,9 9)', halves, '000FFF212'],
  ['LINESTRING(2 0,2 4)', halves, '1FFF0F212'],
  ['LINESTRING(3 2,6 2)', flag, '10F00F212'],
  ['MULTILINESTRING((1 1,3 1),(5 2,6 2))', flag, '1FF00F212'],
  ['MULTILINESTRING((0 0,1 0),(2 0,3 0))', 'GEOMETRYCOLLECTION(LINESTRING(0 0,4 0))', '1FF00F102'],
  [square, halves, '2FFF1FFF2'],
  [square, 'GEOMETRYCOLLECTION(POLYGON((0 0,3 0,3 4,0 4,0 0)),POLYGON((1 0,4 0,4 4,1 4,1 0)))', '2FFF1FFF2'],
  [square, 'GEOMETRYCOLLECTION(POINT(3 3),LINESTRING(1 1,2 2),POLYGON((0 0,4 0,4 4,0 4,0 0)))', '2FFF1FFF2'],
  [square, 'GEOMETRYCOLLECTION(POINT(5 5),POLYGON((0 0,4 0,4 4,0 4,0 0)))', '2FFF1F0F2'],
  [hole, flag, '2FF1FF212'],
  [corners, halves, '2FF11F212'],
  [halves, 'GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POLYGON((0 0,4 0,4 4,0 4,0 0))))', '2FFF1FFF2'],
  [
    'GEOMETRYCOLLECTION(POINT(0 0),LINESTRING(1 0,3 0))',
    'GEOMETRYCOLLECTION(POINT(2 0),LINESTRING(5 0,6 0))',
    '0F1FF0102',
  ],

  // Without length, a line is a point
  ['LINESTRING(1 1,1 1)', 'POINT(1 1)', '0FFFFFFF2'],
  ['LINESTRING(0 2,0 2)', square, 'F0FFFF212'],
];
