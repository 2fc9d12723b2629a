// Walks the search tree of a MaxMind file without making anything on the way: an address in, a record's place out.
// https://maxmind.github.io/MaxMind-DB/ describes the format; `mmdb-lib` reads the records themselves.

import { type IpWords, parseIPv4, parseIPv6 } from '../lib/parse-ip.ts'

/** A number that stands for the record of an address: the same for all addresses of one record; 0 for none. */
export type RecordFinder = (address: string) => number

interface TreeShape {
  nodeCount: number
  recordSize: number
  ipVersion: number
}

/** So many bits of an IPv4 address are one look-up in a table, which leaves a few steps to walk. */
const TABLE_BITS = 16

export function createRecordFinder(
  file: Buffer,
  { nodeCount, recordSize, ipVersion }: TreeShape,
): RecordFinder {
  const child = createChildReader(file, recordSize)
  const words: IpWords = new Uint32Array(4)
  let table: Uint32Array | undefined

  /** Follows bits of a word, the highest first, to a node or to an end. */
  function walk(from: number, word: number, bits: number): number {
    let node = from
    for (let shift = 31; shift > 31 - bits && node < nodeCount; shift--)
      node = child(node, (word >>> shift) & 1)
    return node
  }

  function makeTable(): Uint32Array {
    let root = 0
    // An IPv6 tree holds IPv4 behind 96 zeros.
    if (ipVersion === 6) for (let bit = 0; bit < 96 && root < nodeCount; bit++) root = child(root, 0)
    return Uint32Array.from({ length: 2 ** TABLE_BITS }, (_, high) =>
      walk(root, high << TABLE_BITS, TABLE_BITS),
    )
  }

  return (address) => {
    let node = 0
    if (parseIPv4(address, words)) {
      table ??= makeTable()
      const word = words[0] as number
      node = walk(table[word >>> TABLE_BITS] as number, word << TABLE_BITS, 32 - TABLE_BITS)
    } else if (ipVersion === 6 && parseIPv6(address, words)) {
      for (let i = 0; i < 4; i++) node = walk(node, words[i] as number, 32)
    }
    return node > nodeCount ? node : 0
  }
}

/** Both children of a node lie side by side: 24, 28 or 32 bits each. */
function createChildReader(file: Buffer, recordSize: number): (node: number, bit: number) => number {
  const byte = (at: number) => file[at] as number
  const three = (at: number) => (byte(at) << 16) | (byte(at + 1) << 8) | byte(at + 2)
  if (recordSize === 24) return (node, bit) => three(node * 6 + bit * 3)
  if (recordSize === 32) return (node, bit) => file.readUInt32BE(node * 8 + bit * 4)
  // Of 28 bits the highest four are halves of the byte between the two.
  return (node, bit) => {
    const middle = byte(node * 7 + 3)
    return (bit === 0 ? (middle & 0xf0) << 20 : (middle & 0x0f) << 24) | three(node * 7 + bit * 4)
  }
}
