// Cuts a file into requests at the ends of its records, while it is read, so that its size doesn't matter. Each piece is a whole file of
// its kind, with what one has to know of it: the header of a table, or the statement that names a table's columns.

/** The API takes so many rows and bytes of JSON at once, of which some are left for what else a request says. */
const MOST_ROWS = 500;
const MOST_BYTES = 250_000;
/** A quoted cell of more lines or letters has no end, as for the API. */
const MOST_LINES = 2_500;
const MOST_LETTERS = 250_000;
/** Records that equal each other are at most so far apart. */
const NEAR = 50;
/** So much says whether an object is a link or has a list of them. */
const DECIDING_LETTERS = 65_536;
/** What is longer and hasn't ended is damaged. */
const MOST_WAITING = 1_000_000;
const SHOWN_LETTERS = 1_000;

/**
 * @typedef {object} Piece
 * @property {string} text
 * @property {number} firstLine the line of the file that the first line of the text stands for
 * @property {number[]} lines those of its records
 * @property {number[]} doubtful which of them, from 0, have a letter that can't be read
 * @property {number[]} damaged the lines of records that aren't in the text, since the letter is in a URL
 * @property {boolean} mayBeOther whether it may be of a table that has neither links nor clicks
 */

/** @typedef {{ push: (text: string) => Piece[], end: () => Piece[] }} Cutter */

/** By the first letters of a file. @param {string} head @param {{ mostRows?: number }} [options] @returns {Cutter} */
export function cutterOf(head, { mostRows = MOST_ROWS } = {}) {
  const text = head.replace(/^\uFEFF/, '').trimStart();
  if (/^[[{]/.test(text)) return cutter(findObject, mostRows, { before: '[', between: ',', after: ']' });
  if (/^\s*(insert into|create table)/im.test(text)) return cutter(findTuple, mostRows, { before: '', between: ',', after: ';' });
  return cutter(findRow, mostRows, { before: '', between: '', after: '' });
}

/**
 * What is found at the beginning of a text: how far it was read, and perhaps a record, or the head that all later ones need.
 * `undefined` if more has to be read first.
 * @typedef {{ end: number, record?: string, head?: string } | undefined} Found
 */

/**
 * What was read before.
 * @typedef {object} State
 * @property {string} [head]
 * @property {string} [delimiter] what separates the cells of a table
 * @property {boolean} [isIn] whether it is in a list
 * @property {number} [depth] how many brackets of a document are open
 * @property {boolean} [isOver] whether nothing more is read
 * @property {boolean} [mayHaveLinks] whether its rows may be links or clicks
 * @property {Map<string, string>} [tables] the statements that name columns
 */

/** @typedef {{ text: string, line: number, bytes: number }} PlacedRecord */

/**
 * @param {(rest: string, state: State, isOver: boolean) => Found} find
 * @param {number} mostRows
 * @param {{ before: string, between: string, after: string }} signs
 * @returns {Cutter}
 */
function cutter(find, mostRows, { before, between, after }) {
  /** @type {State} */
  const state = {};
  let rest = '';
  let line = 1;
  let head = '';
  /** @type {PlacedRecord[]} */
  const open = [];
  // How many of them fit into a request, and their bytes.
  let fits = 0;
  let bytes = 0;

  /** @param {PlacedRecord[]} records @returns {Piece[]} */
  function pieceOf(records) {
    const sent = records.filter(({ text }) => !hasDamagedUrl(text, state.delimiter));
    const first = sent[0] ?? records[0];
    if (!first) return [];
    let text = before + head;
    let reached = first.line;
    sent.forEach((record, index) => {
      // The lines between two records stay, so that those of a piece are those of the file.
      if (index > 0) text += between + '\n'.repeat(Math.max(0, record.line - reached));
      text += record.text;
      reached = record.line + linesIn(record.text);
    });
    const doubtful = sent.flatMap((record, at) => (record.text.includes(UNREADABLE) ? [at] : []));
    const damaged = records.filter((record) => hasDamagedUrl(record.text, state.delimiter)).map(({ line }) => line);
    return [{ text: text + after, firstLine: first.line - linesIn(head), lines: sent.map(({ line }) => line), doubtful, damaged, mayBeOther: after === ';' }];
  }

  /** @param {PlacedRecord} record @returns {Piece[]} */
  function add(record) {
    const { head: wanted = '' } = state;
    const closed = wanted === head ? [] : close();
    head = wanted;
    open.push(record);
    return [...closed, ...cut(false)];
  }

  const close = () => [...cut(true), ...begin(open.length)];

  /** The pieces that are full; before the end, what comes behind one says where it ends. @param {boolean} isOver */
  function cut(isOver) {
    const pieces = [];
    for (measure(); fits < open.length && (isOver || open.length >= fits + NEAR); measure()) pieces.push(...begin(endOfPiece()));
    return pieces;
  }

  function measure() {
    for (; fits < open.length; fits += 1) {
      const latest = open[fits - 1];
      const more = open[fits].bytes + (latest ? 2 * Math.max(0, open[fits].line - latest.line) : jsonBytesOf(head));
      if (latest && (fits === mostRows || bytes + more > MOST_BYTES)) return;
      bytes += more;
    }
  }

  /** Records that equal each other are told apart by their order in a request, so they stay together if a log is sorted by time. */
  function endOfPiece() {
    const latest = new Map();
    const equals = open.map(({ text }, at) => {
      const known = latest.get(text.trim()) ?? -Infinity;
      latest.set(text.trim(), at);
      return known;
    });
    let kept = fits;
    for (let at = Math.min(open.length, fits + NEAR) - 1; at >= kept; at -= 1) if (equals[at] >= at - NEAR) kept = Math.min(kept, equals[at]);
    return kept < fits / 2 ? fits : kept;
  }

  /** Another piece behind so many records. @param {number} count */
  function begin(count) {
    fits = 0;
    bytes = 0;
    return pieceOf(open.splice(0, count));
  }

  /** @param {boolean} isOver @returns {Piece[]} */
  function read(isOver) {
    const pieces = [];
    let at = 0;
    for (;;) {
      const found = find(rest.slice(at), state, isOver);
      if (!found || found.end === 0) break;
      const passed = rest.slice(at, at + found.end);
      state.head = found.head ?? state.head;
      if (found.record !== undefined) {
        const start = passed.indexOf(found.record);
        pieces.push(...add({ text: found.record, line: line + linesIn(passed.slice(0, start)), bytes: jsonBytesOf(found.record) }));
      }
      line += linesIn(passed);
      at += found.end;
    }
    rest = rest.slice(at);
    return pieces;
  }

  return {
    push: (text) => {
      rest += line === 1 && rest === '' ? text.replace(/^\uFEFF/, '') : text;
      return read(false);
    },
    end: () => [...read(true), ...close()],
  };
}

/** What a decoder writes for bytes that are no letter. */
const UNREADABLE = '\uFFFD';

/** Whether such a letter is in a URL, whose slashes may be escaped in JSON. @param {string} text @param {string} [delimiter] */
function hasDamagedUrl(text, delimiter) {
  if (!text.includes(UNREADABLE)) return false;
  const cells = delimiter ? (text.match(new RegExp(`"[^"]*"|[^"${delimiter}]+`, 'g')) ?? []) : [text];
  return cells.some((cell) => cell.split(/[\s"']/).some((word) => word.split(/:\\?\/\\?\/(.*)/)[1]?.includes(UNREADABLE)));
}

const encoder = new TextEncoder();

/** Of a text within JSON. @param {string} text */
const jsonBytesOf = (text) => encoder.encode(JSON.stringify(text)).length;

/** @param {string} text */
function linesIn(text) {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** A row of a table with its end. @param {string} rest @param {State} state @param {boolean} isOver @returns {Found} */
function findRow(rest, state, isOver) {
  if (rest === '') return undefined;
  state.delimiter ??= delimiterOf(rest);
  const whole = endOfRow(rest, state.delimiter);
  const isDamaged = whole === DAMAGED || (whole === undefined && (isOver || rest.length >= MOST_LETTERS));
  const end = isDamaged ? endOfLine(rest) : whole;
  if (end === undefined || (end === rest.length && !isOver && !rest.endsWith('\n'))) return undefined;
  const row = rest.slice(0, end);
  if (row.trim() === '') return { end };
  const ended = row.endsWith('\n') ? row : `${row}\n`;
  return state.head === undefined ? { end, head: ended } : { end, record: row };
}

/** What separates the cells of a header, whose names have none of it. @param {string} text */
function delimiterOf(text) {
  const header = /[^\r\n]+/.exec(text)?.[0] ?? '';
  const counts = [',', ';', '\t'].map((sign) => ({ sign, count: header.split(sign).length }));
  return counts.reduce((most, one) => (one.count > most.count ? one : most)).sign;
}

/** Where a row ends whose quotation mark is missing. @param {string} rest */
const endOfLine = (rest) => rest.indexOf('\n') + 1 || rest.length;

const DAMAGED = -1;

/** Behind the newline that isn't in a quoted cell; `undefined` if the cell may end later. @param {string} rest @param {string} delimiter */
function endOfRow(rest, delimiter) {
  let isStart = true;
  for (let at = 0; at < rest.length; at += 1) {
    const sign = rest[at];
    if (sign === '"' && isStart) {
      const close = endOfCell(rest, at);
      if (close === undefined || close === DAMAGED) return close;
      if (![delimiter, '\r', '\n', undefined].includes(rest[close + 1])) return DAMAGED;
      at = close;
      isStart = false;
    } else if (sign === '\n') {
      return at + 1;
    } else {
      isStart = sign === delimiter;
    }
  }
  return rest.length;
}

/** Where the quotation mark is that closes the one here; within a cell, it stands twice. @param {string} text @param {number} start */
function endOfCell(text, start) {
  let lines = 0;
  for (let at = start; ; at += 1) {
    const next = text.indexOf('"', at + 1);
    lines += linesIn(text.slice(at, next < 0 ? undefined : next));
    if (lines > MOST_LINES) return DAMAGED;
    if (next < 0) return undefined;
    if (text[next + 1] !== '"') return next;
    at = next;
  }
}

/** An object of the first list of a document that has any, or of what stands under `links`; a document may follow another. @param {string} rest @param {State} state @param {boolean} isOver @returns {Found} */
function findObject(rest, state, isOver) {
  if (rest === '') return undefined;
  if (state.isOver) return { end: rest.length };
  if (state.isIn) return findInList(rest, state, isOver);
  return state.depth ? { end: passBrackets(rest, state, isOver) } : findDocument(rest, state, isOver);
}

/** @param {string} rest @param {State} state @param {boolean} isOver @returns {Found} */
function findDocument(rest, state, isOver) {
  const start = rest.search(/[[{]/);
  if (start < 0) return { end: rest.length };
  const end = closing(rest, start);
  const text = rest.slice(start, end);
  const isObject = rest[start] === '{';
  const isEnough = end !== undefined || isOver || text.length >= DECIDING_LETTERS;
  if (isObject && !isEnough) return undefined;
  const list = beginning(text);
  if (list && !(isObject && hasDestination(end === undefined ? text.slice(0, DECIDING_LETTERS) : text))) {
    Object.assign(state, { isIn: true, depth: list.depth });
    return { end: start + list.end };
  }
  // An object of its own is one of a list of such lines.
  if (end !== undefined) return { end, ...(isObject && { record: text }) };
  return isOver || text.length > MOST_WAITING ? endWith(state, rest, isObject ? text : undefined) : undefined;
}

/** @param {string} rest @param {State} state @param {boolean} isOver @returns {Found} */
function findInList(rest, state, isOver) {
  const isTooLong = isOver || rest.length > MOST_WAITING;
  const start = firstOutside(rest);
  if (start === undefined) return isTooLong ? endWith(state, rest) : undefined;
  if (rest[start] !== '{') {
    state.isIn = false;
    return { end: passBrackets(rest, state, isOver, start) };
  }
  const end = closing(rest, start);
  if (end !== undefined) return { end, record: rest.slice(start, end) };
  return isTooLong ? endWith(state, rest, rest.slice(start)) : undefined;
}

/** Behind what closes all that is open, as far as it was read. @param {string} text @param {State} state @param {boolean} isOver @param {number} [start] */
function passBrackets(text, state, isOver, start = 0) {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '"') {
      const end = endOfText(text, at);
      if (Number.isNaN(end)) return isOver || text.length > MOST_WAITING ? text.length : at;
      at = end - 1;
    }
    state.depth = (state.depth ?? 0) + depthOf(text[at]);
    if (state.depth <= 0) return at + 1;
  }
  return text.length;
}

/** What a bracket changes. @param {string} sign */
const depthOf = (sign) => (sign === '{' || sign === '[' ? 1 : sign === '}' || sign === ']' ? -1 : 0);

/** Nothing more is read; what is too long to be sent is sent as far as it is needed to be refused. @param {State} state @param {string} rest @param {string} [record] @returns {Found} */
function endWith(state, rest, record) {
  state.isOver = true;
  return { end: rest.length, record: record && record.length > MOST_WAITING ? record.slice(0, SHOWN_LETTERS) : record };
}

const LIST = /\[\s*(?=\{)/y;
const NAMED = /"links"\s*:\s*\{/y;

/** Behind what opens the list, and how many brackets are open there. @param {string} text */
function beginning(text) {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const opens = text[at] === '"' ? NAMED : text[at] === '[' ? LIST : undefined;
    if (opens) {
      opens.lastIndex = at;
      if (opens.test(text)) return { end: opens.lastIndex, depth: depth + 1 };
    }
    if (text[at] === '"') at = endOfText(text, at) - 1;
    if (Number.isNaN(at)) return undefined;
    depth += depthOf(text[at]);
  }
  return undefined;
}

const DESTINATION = /^(long_?url|original_?url|destination_?url|destination|target|long_?link|url)$/i;

/** Whether an object is a link, whatever lists it has. @param {string} text */
function hasDestination(text) {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') {
      const end = endOfText(text, at);
      if (Number.isNaN(end)) return false;
      if (depth === 1 && DESTINATION.test(text.slice(at + 1, end - 1)) && /^\s*:\s*"/.test(text.slice(end, end + 20))) return true;
      at = end - 1;
    }
    depth += depthOf(text[at]);
  }
  return false;
}

/** Where the next object of a list is, or what closes the list. @param {string} text */
function firstOutside(text) {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '{' || text[at] === ']' || text[at] === '}') return at;
    if (text[at] === '"') at = endOfText(text, at) - 1;
    if (Number.isNaN(at)) return undefined;
  }
  return undefined;
}

/** Behind the bracket that closes the one here. @param {string} text @param {number} start */
function closing(text, start) {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '"') {
      at = endOfText(text, at) - 1;
      if (Number.isNaN(at)) return undefined;
    } else if (text[at] === '{' || text[at] === '[') depth += 1;
    else if (text[at] === '}' || text[at] === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** Behind the quotation mark that ends a text; not a number if there is none. @param {string} text @param {number} start */
function endOfText(text, start) {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return NaN;
}

const INSERT = /insert\s+(?:ignore\s+)?into\s+[^()';]*(?:\([^()']*\)\s*)?values\s*(?=\()/i;
const CREATE = /create\s+table[\s\S]*?;\s*(?:\n|$)/i;

/** A row of a statement that inserts some. @param {string} rest @param {State} state @param {boolean} isOver @returns {Found} */
function findTuple(rest, state, isOver) {
  if (state.isIn) {
    const start = rest.search(/[^\s,]/);
    if (start < 0) return undefined;
    if (rest[start] === '(') return tupleAt(start, rest, state, isOver);
    state.isIn = false;
    return { end: Math.max(1, start) };
  }
  const insert = INSERT.exec(rest);
  const create = !insert || /create\s+table/i.test(rest.slice(0, insert.index)) ? CREATE.exec(rest) : null;
  state.tables ??= new Map();
  if (create && (!insert || create.index < insert.index)) {
    state.tables.set(nameOf(create[0]), create[0].replace(/\s+/g, ' ').trim());
    return { end: create.index + create[0].length };
  }
  if (!insert) return rest.length > MOST_WAITING ? { end: rest.length - MOST_LETTERS } : undefined;
  // The API knows a dump by a line that begins so.
  const columns = state.tables.get(nameOf(insert[0]));
  const head = `${columns ? `${columns}\n` : ''}${insert[0].replace(/\s+/g, ' ')}`;
  state.isIn = true;
  state.mayHaveLinks = mayHaveLinks(head, nameOf(insert[0]));
  return { end: insert.index + insert[0].length, head };
}

/** @param {number} start @param {string} rest @param {State} state @param {boolean} isOver @returns {Found} */
function tupleAt(start, rest, state, isOver) {
  const closed = endOfTuple(rest, start);
  if (closed === undefined && !isOver && rest.length <= MOST_WAITING) return undefined;
  // A row that doesn't end costs its line.
  const line = isOver ? -1 : rest.indexOf('\n', start);
  const end = closed ?? (line < 0 ? rest.length : line);
  return { end, ...(state.mayHaveLinks && { record: rest.slice(start, Math.min(end, start + MOST_WAITING)) }) };
}

/** By the names of its columns, or else by its own. @param {string} head @param {string} name */
function mayHaveLinks(head, name) {
  const columns = /\(.*\)/.exec(head.replaceAll(name, ''))?.[0];
  return columns ? /url|link|destination|target/i.test(columns) : /_(url|log|links|clicks)$/i.test(name);
}

/** The name of the table of a statement. @param {string} statement */
const nameOf = (statement) => /(?:table|into)\s+(?:if\s+not\s+exists\s+)?[`"]?([^\s`"(]+)/i.exec(statement)?.[1] ?? '';

/** Behind the bracket that closes a row. @param {string} text @param {number} start */
function endOfTuple(text, start) {
  let quote = '';
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at];
    if (quote) {
      if (sign === '\\') at += 1;
      else if (sign === quote) quote = '';
    } else if (sign === "'" || sign === '"') quote = sign;
    else if (sign === ')') return at + 1;
  }
  return undefined;
}
