// Files as one ZIP archive. They are stored as they are: tables and pictures are small, and no library is needed.

/** @typedef {{ name: string, content: string | Uint8Array }} ZippedFile */

const [LOCAL_HEADER, ENTRY, END] = [0x04034b50, 0x02014b50, 0x06054b50];
/** Names are UTF-8. */
const FLAGS = 0x0800;
/** What reading it takes: version 2.0. */
const VERSION = 20;
/** The program that has made it runs on Unix, so that the permissions are read. */
const MADE_BY = (3 << 8) | VERSION;
/** A regular file, which everyone may read. */
const PERMISSIONS = 0o100644;
/** When it was changed, in UTC, since the field of the format has no zone. */
const TIMESTAMP = { id: 0x5455, length: 5, isChangedOnly: 1 };
const EXTRA_BYTES = 4 + TIMESTAMP.length;
const [LOCAL_BYTES, ENTRY_BYTES, END_BYTES] = [30, 46, 22];
/** The first year that the format knows. */
const EPOCH = 1980;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

/** The check sum that the format demands. @param {Uint8Array} bytes */
export function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 0xff] ^ (sum >>> 8);
  return ~sum >>> 0;
}

/**
 * @param {ZippedFile[]} files whose names differ
 * @param {Date} [at] when they were made
 * @returns {Blob}
 */
export function zipOf(files, at = new Date()) {
  const encoder = new TextEncoder();
  const bodies = /** @type {Uint8Array<ArrayBuffer>[]} */ ([]);
  const entries = /** @type {Uint8Array<ArrayBuffer>[]} */ ([]);
  let offset = 0;
  for (const { name, content } of files) {
    const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (typeof content === 'string' ? encoder.encode(content) : content);
    const known = { name: /** @type {Uint8Array<ArrayBuffer>} */ (encoder.encode(name)), bytes, sum: crc32(bytes), at };
    const header = headerOf(known);
    bodies.push(header, bytes);
    entries.push(entryOf(known, offset));
    offset += header.length + bytes.length;
  }
  return new Blob([...bodies, ...entries, endOf(entries, offset)], { type: 'application/zip' });
}

/** @typedef {{ name: Uint8Array, bytes: Uint8Array, sum: number, at: Date }} Known */

/** What stands in front of a file. @param {Known} file */
function headerOf(file) {
  const { bytes, view } = begun(LOCAL_BYTES, file.name);
  view.setUint32(0, LOCAL_HEADER, true);
  writeFacts(view, 4, file);
  writeTimestamp(view, LOCAL_BYTES + file.name.length, file.at);
  return bytes;
}

/** A file in the list at the end. @param {Known} file @param {number} offset where its header begins */
function entryOf(file, offset) {
  const { bytes, view } = begun(ENTRY_BYTES, file.name);
  view.setUint32(0, ENTRY, true);
  view.setUint16(4, MADE_BY, true);
  writeFacts(view, 6, file);
  view.setUint32(38, PERMISSIONS * 0x10000, true);
  view.setUint32(42, offset, true);
  writeTimestamp(view, ENTRY_BYTES + file.name.length, file.at);
  return bytes;
}

/** Room for a header with its name and its time. @param {number} length @param {Uint8Array} name */
function begun(length, name) {
  const bytes = new Uint8Array(length + name.length + EXTRA_BYTES);
  bytes.set(name, length);
  return { bytes, view: new DataView(bytes.buffer) };
}

/** What both headers say. @param {DataView} view @param {number} from @param {Known} file */
function writeFacts(view, from, { name, bytes, sum, at }) {
  view.setUint16(from, VERSION, true);
  view.setUint16(from + 2, FLAGS, true);
  view.setUint16(from + 6, (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1), true);
  view.setUint16(from + 8, ((at.getFullYear() - EPOCH) << 9) | ((at.getMonth() + 1) << 5) | at.getDate(), true);
  view.setUint32(from + 10, sum, true);
  view.setUint32(from + 14, bytes.length, true);
  view.setUint32(from + 18, bytes.length, true);
  view.setUint16(from + 22, name.length, true);
  view.setUint16(from + 24, EXTRA_BYTES, true);
}

/** @param {DataView} view @param {number} from @param {Date} at */
function writeTimestamp(view, from, at) {
  view.setUint16(from, TIMESTAMP.id, true);
  view.setUint16(from + 2, TIMESTAMP.length, true);
  view.setUint8(from + 4, TIMESTAMP.isChangedOnly);
  view.setUint32(from + 5, Math.floor(at.getTime() / 1000), true);
}

/** @param {Uint8Array[]} entries @param {number} offset where they begin */
function endOf(entries, offset) {
  const view = new DataView(new ArrayBuffer(END_BYTES));
  view.setUint32(0, END, true);
  view.setUint16(8, entries.length, true);
  view.setUint16(10, entries.length, true);
  view.setUint32(12, entries.reduce((sum, { length }) => sum + length, 0), true);
  view.setUint32(16, offset, true);
  return new Uint8Array(view.buffer);
}
