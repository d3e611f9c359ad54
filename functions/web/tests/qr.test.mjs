import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { matrixIn } = await import('../app/parts/qr/matrix.js');
const { freeSideOf, outlineOf, readableSizes, withFreeMiddle } = await import('../app/parts/qr/geometry.js');
const { svgOf } = await import('../app/parts/qr/draw.js');

const cells = ({ side, isDark }) => Array.from({ length: side }, (_, y) => Array.from({ length: side }, (_, x) => (isDark(x, y) ? '#' : '.')).join(''));
const matrixOf = (rows) => ({ side: rows.length, isDark: (x, y) => rows[y]?.[x] === '#' });
/** The same in every run. */
const noise = (side) => matrixOf(Array.from({ length: side }, (_, y) => Array.from({ length: side }, (_, x) => ((x * 7 + y * 13 + x * y) % 5 < 2 ? '#' : '.')).join('')));

/** What a path fills: the modules whose middle its outlines go round an odd number of times. */
function filled(path, side, margin) {
  const loops = path.split('z').filter(Boolean).map((loop) => [...loop.matchAll(/([\d.-]+) ([\d.-]+)(?=[LzA]|$)/g)].map(([, x, y]) => [Number(x) - margin, Number(y) - margin]));
  const isIn = (x, y) => loops.reduce((count, loop) => count + loop.filter(([ax, ay], at) => {
    const [bx, by] = loop[(at + 1) % loop.length];
    return ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax;
  }).length, 0) % 2 === 1;
  return matrixOf(Array.from({ length: side }, (_, y) => Array.from({ length: side }, (_, x) => (isIn(x + 0.5, y + 0.5) ? '#' : '.')).join('')));
}

test('modules are those that the API draws', () => {
  const svg = '<svg viewBox="0 0 3 3"><path d="M0 0h1v1h-1zM2 0h1v1h-1zM0 2h3v1h-3z"/></svg>';
  assert.deepEqual(cells(matrixIn(svg)), ['#.#', '...', '###']);
});

test('an outline fills exactly the dark modules, with margin and rounded or not', () => {
  const touching = matrixOf(['#.#.', '.#..', '###.', '#.##']);
  for (const matrix of [matrixOf(['#']), touching, noise(29)]) {
    for (const margin of [0, 4]) {
      for (const isRounded of [false, true]) assert.deepEqual(cells(filled(outlineOf(matrix, margin, isRounded), matrix.side, margin)), cells(matrix));
    }
  }
  assert.equal(outlineOf(matrixOf(['#']), 1, false), 'M2 1L2 2L1 2L1 1z');
});

test('a logo has an odd number of modules in the middle, at most 22 % of the width', () => {
  for (let version = 1; version <= 40; version += 1) {
    const matrix = noise(17 + 4 * version);
    const free = freeSideOf(matrix);
    assert(free % 2 === 1 && free <= 0.22 * matrix.side && free >= 0.12 * matrix.side, `${matrix.side}: ${free}`);
    const [before, after] = [cells(matrix), cells(withFreeMiddle(matrix))];
    const first = (matrix.side - free) / 2;
    after.forEach((row, y) => {
      const isFree = y >= first && y < first + free;
      assert.equal(row, isFree ? before[y].slice(0, first) + '.'.repeat(free) + before[y].slice(first + free) : before[y]);
    });
  }
});

test('sizes whose modules would be too small are left out', () => {
  const sizes = [256, 512, 1024];
  assert.deepEqual(readableSizes(sizes, noise(37), 4), sizes);
  assert.deepEqual(readableSizes(sizes, noise(77), 10), [512, 1024]);
});

test('a document names its link and can do nothing', () => {
  const design = { size: 512, margin: 0, isRounded: true, color: '#1a2b3c', background: null, logo: undefined };
  const svg = svgOf(noise(21), design, 'https://go.example.com/a&b');
  assert(svg.includes('<title>QR code of https://go.example.com/a&amp;b</title>') && !svg.includes('<rect') && !svg.includes('crispEdges'), svg);
  const logo = { picture: { width: 200, height: 100 }, href: 'data:image/png;base64,AA==' };
  const whole = svgOf(noise(25), { ...design, margin: 4, background: '#ffffff', isRounded: false, logo }, 'https://go.example.com/a');
  assert(whole.includes('<image href="data:image/png;base64,AA==" x="14.5" y="15.5" width="4" height="2"/>'), whole.slice(-200));
});
